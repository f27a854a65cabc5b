#pragma once

#include <span>
#include <string>
#include <type_traits>

#include "frontends/control_service.h"
#include "frontends/grpc/grpc_call.h"

namespace proa::frontends {

// A method with one request and one answer.
class UnaryCall : public GrpcCall {
 public:
  using GrpcCall::GrpcCall;

 protected:
  // The request is whole. Sends the answer and finishes, now or later; an error ends the call.
  virtual Status on_request(Message message) = 0;

 private:
  Status on_message(Message message) final;
  Status on_half_close() final;

  Message message_;
  bool has_message_ = false;
};

// Runs one method of ControlService on the bytes of its request: the serialised answer, behind room
// for the frame's prefix.
using ControlMethod = Result<std::string> (*)(const ControlService& service,
                                              std::span<const std::byte> request,
                                              std::string_view room);

namespace internal {
template <class Request, class Response>
Result<std::string> run_control(Result<Response> (ControlService::*method)(const Request&) const,
                                const ControlService& service, std::span<const std::byte> bytes,
                                std::string_view room) {
  Request request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return error::invalid_argument("malformed {}", Request::descriptor()->name());
  }
  PROA_ASSIGN(const Response response, (service.*method)(request));
  std::string out(room);
  response.AppendToString(&out);
  return out;
}
}  // namespace internal

// control_method<&ControlService::server_live>
template <auto kMethod>
Result<std::string> control_method(const ControlService& service, std::span<const std::byte> bytes,
                                   std::string_view room) {
  return internal::run_control(kMethod, service, bytes, room);
}

// Any unary method of ControlService that answers at once.
class ControlCall final : public UnaryCall {
 public:
  ControlCall(const FrontendContext& context, const ControlService& service, ControlMethod method)
      : UnaryCall(context, kControlMessageBytes), service_(service), method_(method) {}

 protected:
  Status on_request(Message message) override;

 private:
  const ControlService& service_;
  ControlMethod method_;
  core::MemoryBudget::Reservation answer_memory_;
};

namespace internal {
template <class Method>
struct LaterMethod;
template <class Message, class Answer>
struct LaterMethod<void (ControlService::*)(Message, ControlService::Done<Answer>) const> {
  using Request = std::remove_cvref_t<Message>;
  using Response = Answer;
};
}  // namespace internal

// A method of ControlService that answers later: LaterCall<&ControlService::repository_index>. A
// client that leaves does not end what it began.
template <auto kMethod>
class LaterCall final : public UnaryCall {
 public:
  LaterCall(const FrontendContext& context, const ControlService& service,
            std::size_t max_message_bytes)
      : UnaryCall(context, max_message_bytes), service_(service) {}

 protected:
  using Request = typename internal::LaterMethod<decltype(kMethod)>::Request;
  using Response = typename internal::LaterMethod<decltype(kMethod)>::Response;

  Status on_request(Message message) override {
    // What is parsed lies beside what came until the answer is there.
    const std::span<const std::byte> bytes = message.bytes.bytes();
    auto memory = context().budget->try_reserve(bytes.size());
    if (!memory) return over_budget(*context().budget, bytes.size());
    Request request;
    if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return error::invalid_argument("malformed {}", Request::descriptor()->name());
    }
    (service_.*kMethod)(std::move(request), [this, ref = exchange().ref(),
                                             memory = *std::move(memory)](Result<Response> result) {
      ref.run([this, result = std::move(result)](net::Exchange&) { finish(answer(result)); });
    });
    return {};
  }

 private:
  Status answer(const Result<Response>& result) {
    if (!result) return result.error();
    net::Segment part{std::string(kPrefixRoom), {}};
    result->AppendToString(&part.bytes);
    PROA_ASSIGN(answer_memory_, reserve_answer(*context().budget, part.bytes.size()));
    send_message(std::span(&part, 1));
    return {};
  }

  const ControlService& service_;
  core::MemoryBudget::Reservation answer_memory_;
};

// Refuses a call with one error.
class RefusedCall final : public net::ExchangeHandler {
 public:
  explicit RefusedCall(Error error) : error_(std::move(error)) {}
  void on_head(net::Exchange& exchange, const net::RequestHead&) override {
    send_trailers_only(exchange, error_);
  }
  void on_data(std::span<const std::byte>) override {}
  void on_end() override {}
  void on_close(net::CloseReason) override {}

 private:
  Error error_;
};

}  // namespace proa::frontends
