#pragma once

#include <memory>
#include <vector>

#include "core/model.h"
#include "core/request.h"
#include "net/exchange.h"
#include "protocol/infer.h"

namespace proa::frontends {

// What a front end adds to a message to make a request of it.
struct InferCall {
  std::shared_ptr<core::Model> model;
  TimePoint received = kNever;
  TimePoint deadline = kNever;
  core::MemoryBudget::Reservation memory;
  std::shared_ptr<CancellationToken> cancellation;
  std::unique_ptr<core::ResponseSink> sink;
};

// Adds to `memory` what the message holds beyond its body. Errors: kUnavailable.
Status reserve_decoded(core::MemoryBudget& budget, const protocol::InferRequest& message,
                       core::MemoryBudget::Reservation& memory);

// Checks the message against the model and gives it to the scheduler; from then on the sink hears
// of it, perhaps before this returns. Takes inputs and parameters out of `message`; names, outputs
// and id stay for the answer. An error means that the sink was dropped unused.
// Errors: those of core::build_request; kInvalidArgument for data types nobody knows.
Status start_inference(protocol::InferRequest& message, InferCall call);

// A core response as the client asked for it.
struct Answer {
  protocol::InferResponse response;  // points into `core`, `classes` and the message
  core::Response core;
  std::vector<Tensor> classes;
};

// Puts `response` (no error) into the order and form that `message` asked for: requested outputs
// only, class labels where wanted. `answer` must not move afterwards.
// Errors: kInvalidArgument when a type cannot be classified, kInternal for a missing output.
Status make_answer(const core::Model& model, const protocol::InferRequest& message,
                   core::Response response, Answer& answer);

// Bytes that an answer keeps in memory until the client has taken it.
std::size_t answer_bytes(const core::Response& response);

// Hears the answers to a request, on its exchange's loop, while the exchange is open.
class ResponseReceiver {
 public:
  virtual void on_response(core::Response response, bool final) = 0;

 protected:
  ~ResponseReceiver() = default;
};

// Brings the answer of a request with one response back to its exchange: at once on the loop's own
// thread, posted from any other. Dropped when the exchange is over.
class ExchangeSink final : public core::ResponseSink {
 public:
  // `receiver` is the exchange's handler: it lives while the exchange is open.
  ExchangeSink(net::ExchangeRef exchange, ResponseReceiver& receiver)
      : exchange_(std::move(exchange)), receiver_(receiver) {}

  void send(core::Response response, bool final) override {
    exchange_.run(
        [&receiver = receiver_, response = std::move(response), final](net::Exchange&) mutable {
          receiver.on_response(std::move(response), final);
        });
  }

 private:
  net::ExchangeRef exchange_;
  ResponseReceiver& receiver_;
};

}  // namespace proa::frontends
