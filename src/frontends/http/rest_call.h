#pragma once

#include <string>

#include "frontends/compression.h"
#include "frontends/http/rest_endpoints.h"
#include "frontends/http/rest_reply.h"
#include "frontends/message_buffer.h"
#include "frontends/options.h"
#include "net/exchange.h"

namespace proa::frontends {

// The part that all REST calls share: the body gathered (into place where the connection can) and
// unpacked within limits, errors answered.
// Threading: confined to the exchange's loop.
class RestCall : public net::ExchangeHandler {
 public:
  explicit RestCall(const FrontendContext& context)
      : context_(context), body_(*context.memory, *context.budget) {}

  void on_head(net::Exchange& exchange, const net::RequestHead& head) final;
  std::span<std::byte> body_target(std::size_t wanted) final;
  void on_filled(std::size_t bytes) final { body_.filled(bytes); }
  void on_data(std::span<const std::byte> data) final;
  void on_end() final;
  void on_close(net::CloseReason reason) final;

 protected:
  struct Body {
    BufferView bytes;
    core::MemoryBudget::Reservation memory;
  };

  // Looks at the head before the body comes. An error is the answer.
  virtual Status read_head(const net::RequestHead& head) = 0;
  // The request is whole. Answers now or later; an error is the answer.
  virtual Status on_body(Body body) = 0;
  // The exchange is gone, perhaps before the answer.
  virtual void on_gone() {}

  void reply(RestReply reply);
  void fail(const Error& error);

  net::Exchange& exchange() { return *exchange_; }
  // True once answered, by an error of the body for example: nothing more may be sent.
  bool answered() const { return answered_; }
  void set_answered() { answered_ = true; }
  const FrontendContext& context() const { return context_; }

 private:
  Status begin_body(const net::RequestHead& head);
  Status append(std::span<const std::byte> data);
  Result<Body> unpack();

  const FrontendContext& context_;
  net::Exchange* exchange_ = nullptr;
  MessageBuffer body_;
  Encoding encoding_ = Encoding::kIdentity;
  bool answered_ = false;
};

// Every endpoint that answers at once.
class ControlRestCall final : public RestCall {
 public:
  ControlRestCall(const FrontendContext& context, const ControlService& service,
                  RestRequest request)
      : RestCall(context), service_(service), request_(std::move(request)) {}

 protected:
  Status read_head(const net::RequestHead&) override { return {}; }
  Status on_body(Body body) override;

 private:
  const ControlService& service_;
  RestRequest request_;
  core::MemoryBudget::Reservation answer_memory_;
};

// Answers with something known before the head has been looked at.
class FixedReply final : public net::ExchangeHandler {
 public:
  explicit FixedReply(RestReply reply) : reply_(std::move(reply)) {}
  void on_head(net::Exchange& exchange, const net::RequestHead&) override {
    send_reply(exchange, std::move(reply_));
  }
  void on_data(std::span<const std::byte>) override {}
  void on_end() override {}
  void on_close(net::CloseReason) override {}

 private:
  RestReply reply_;
};

}  // namespace proa::frontends
