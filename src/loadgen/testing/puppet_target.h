#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "loadgen/clients/client.h"

namespace proa::loadgen {

// A target in this process that answers whatever is sent with the next flush. `answer` may change
// what happened to an exchange (its latency, a failure); it is called by the workers' threads.
class PuppetTarget final : public Target {
 public:
  using Answer = std::function<void(Exchange&)>;

  explicit PuppetTarget(Answer answer) : answer_(std::move(answer)) {}

  std::unique_ptr<Client> make_client(Loop& loop, ExchangeSink& sink) const override {
    return std::make_unique<PuppetClient>(loop, sink, answer_);
  }

 private:
  class PuppetClient final : public Client {
   public:
    PuppetClient(Loop& loop, ExchangeSink& sink, const Answer& answer)
        : loop_(loop), sink_(sink), answer_(answer) {}

    void prepare(std::size_t) override {}
    bool prepared() const override { return true; }
    TimePoint ready_at() const override { return {}; }
    void start(Exchange& exchange) override {
      exchange.sent = exchange.sent_all = steady_clock().now();
      exchange.bytes_sent = 100;
      started_.push_back(&exchange);
    }
    void flush() override {
      if (started_.empty()) return;
      for (Exchange* exchange : std::exchange(started_, {})) {
        exchange->first_byte = exchange->done = steady_clock().now();
        exchange->responses = 1;
        exchange->bytes_received = 200;
        answer_(*exchange);
        sink_.finished(*exchange);
      }
      loop_.wake();  // more may be sent
    }
    void cancel(Exchange& exchange, Failure failure) override {
      std::erase(started_, &exchange);
      exchange.failure = std::make_unique<Failure>(std::move(failure));
      sink_.finished(exchange);
    }
    Statistics statistics() const override { return {.connections = 1}; }

   private:
    Loop& loop_;
    ExchangeSink& sink_;
    const Answer& answer_;
    std::vector<Exchange*> started_;
  };

  const Answer answer_;
};

}  // namespace proa::loadgen
