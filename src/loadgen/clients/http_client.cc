#include "loadgen/clients/http_client.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "loadgen/clients/answer.h"
#include "loadgen/clients/http_connection.h"
#include "loadgen/clients/waiting_list.h"

namespace proa::loadgen {
namespace {

// What the whole load sends, and where.
struct Requests {
  Address address;
  HttpTargetOptions options;
  std::vector<const PayloadSet*> sets;
  std::vector<std::vector<HttpRequest>> encoded;  // by model and payload
};

class HttpClient final : public Client {
 public:
  HttpClient(const Requests& requests, Loop& loop, ExchangeSink& sink)
      : requests_(requests), loop_(loop), sink_(sink) {}

  void prepare(std::size_t in_flight) override {
    while (lanes_.size() < std::min(in_flight, requests_.options.max_connections)) {
      ++preparing_;
      Lane& lane = add_lane();
      idle_.push_back(&lane);
      lane.connection.connect();
    }
  }
  bool prepared() const override { return preparing_ <= 0; }

  TimePoint ready_at() const override { return back_off_.until(); }

  void start(Exchange& exchange) override {
    waiting_.push(exchange);
    pump();
    // In order: while anything waits, this does.
    if (!waiting_.empty()) exchange.waited_for_room = true;
  }
  void close() override { closing_ = true; }
  void flush() override {}
  void cancel(Exchange& exchange, Failure failure) override;
  Statistics statistics() const override { return statistics_; }

 private:
  // A connection and the request on it.
  struct Lane final : HttpConnection::Owner {
    Lane(HttpClient& owner, Loop& loop, const Address& address)
        : client(owner), connection(loop, address, *this) {}
    void connected(HttpConnection&) override { client.connected(*this); }
    void replied(HttpConnection&) override { client.replied(*this); }
    void failed(HttpConnection&, Failure failure, bool while_connecting) override {
      client.failed(*this, std::move(failure), while_connecting);
    }

    HttpClient& client;
    HttpConnection connection;
    Exchange* exchange = nullptr;
    std::string own_bytes;  // of a request that is made for its place in a sequence
    bool was_connected = false;
  };

  Lane& add_lane() {
    return *lanes_.emplace_back(std::make_unique<Lane>(*this, loop_, requests_.address));
  }
  const Payload& payload_of(const Exchange& exchange) const {
    return requests_.sets[exchange.model]->payloads[exchange.payload];
  }

  void pump();
  void send(Lane& lane, Exchange& exchange);
  void connected(Lane& lane);
  void replied(Lane& lane);
  void failed(Lane& lane, Failure failure, bool while_connecting);
  std::optional<Failure> judge(const Payload& payload, const HttpResponseReader& reply) const;
  void end(Lane& lane, std::optional<Failure> failure);
  void finish(Exchange& exchange, std::optional<Failure> failure, TimePoint done);

  const Requests& requests_;
  Loop& loop_;
  ExchangeSink& sink_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Lane*> idle_;  // the last one used is the first to be used again
  WaitingList waiting_;
  bool pumping_ = false;
  bool closing_ = false;
  std::int64_t preparing_ = 0;
  BackOff back_off_;
  Failure last_failure_;
  Statistics statistics_;
};

// Sends what waits, as long as there are lanes for it. Requests that fail at once end in here
// again.
void HttpClient::pump() {
  if (closing_ || std::exchange(pumping_, true)) return;
  while (!waiting_.empty() &&
         (!idle_.empty() || lanes_.size() < requests_.options.max_connections)) {
    Lane* lane = nullptr;
    if (idle_.empty()) {
      lane = &add_lane();
    } else {
      lane = idle_.back();
      idle_.pop_back();
    }
    send(*lane, waiting_.take_front());
  }
  pumping_ = false;
}

void HttpClient::send(Lane& lane, Exchange& exchange) {
  lane.exchange = &exchange;
  if (!lane.connection.connected() && back_off_.holds(steady_clock().now())) {
    // Nothing of it was on the connection, whose times are of the request before.
    exchange.sent = exchange.sent_all = steady_clock().now();
    lane.exchange = nullptr;
    idle_.push_back(&lane);
    finish(exchange, last_failure_, exchange.sent);
    return;
  }
  const HttpRequest& request = requests_.encoded[exchange.model][exchange.payload];
  std::string_view bytes = request.bytes();
  if (exchange.sequence.id != 0) {
    lane.own_bytes = request.bytes(exchange.sequence);
    bytes = lane.own_bytes;
  }
  lane.connection.send(bytes, payload_of(exchange).expected.empty()
                                  ? HttpResponseReader::Keep::kErrors
                                  : HttpResponseReader::Keep::kAll);
}

void HttpClient::cancel(Exchange& exchange, Failure failure) {
  if (waiting_.remove(exchange)) {
    exchange.sent = exchange.sent_all = steady_clock().now();
    finish(exchange, std::move(failure), exchange.sent);
    return;
  }
  for (const auto& lane : lanes_) {
    if (lane->exchange != &exchange) continue;
    lane->connection.close();
    end(*lane, std::move(failure));
    return;
  }
}

void HttpClient::connected(Lane& lane) {
  ++statistics_.connections;
  if (std::exchange(lane.was_connected, true)) ++statistics_.reconnects;
  back_off_.succeeded();
  --preparing_;
}

void HttpClient::replied(Lane& lane) {
  const HttpResponseReader& reply = lane.connection.reply();
  lane.exchange->responses = reply.status() == 200 ? 1 : 0;
  end(lane, judge(payload_of(*lane.exchange), reply));
}

std::optional<Failure> HttpClient::judge(const Payload& payload,
                                         const HttpResponseReader& reply) const {
  if (reply.status() != 200) {
    return Failure{fmt::format("HTTP {}", reply.status()), http_error_text(reply.body())};
  }
  if (payload.expected.empty()) return std::nullopt;
  const auto answer = read_http_answer(reply.body(), reply.json_size());
  const Status same =
      answer ? check_answer(payload, *answer, requests_.options.tolerance) : Status(answer.error());
  if (same) return std::nullopt;
  return Failure{"wrong answer", same.error().message};
}

void HttpClient::failed(Lane& lane, Failure failure, bool while_connecting) {
  if (while_connecting) {
    --preparing_;
    last_failure_ = failure;
    back_off_.failed(steady_clock().now());
  }
  if (lane.exchange != nullptr) end(lane, std::move(failure));
}

void HttpClient::end(Lane& lane, std::optional<Failure> failure) {
  Exchange& exchange = *std::exchange(lane.exchange, nullptr);
  const HttpConnection::Times& times = lane.connection.times();
  exchange.sent = times.sent;
  exchange.sent_all = times.sent_all;
  exchange.first_byte = times.first_byte;
  exchange.bytes_sent = times.bytes_sent;
  exchange.bytes_received = times.bytes_received;
  const bool answered = times.first_byte != TimePoint();
  const TimePoint last_byte = times.last_byte;
  idle_.push_back(&lane);
  finish(exchange, std::move(failure), answered ? last_byte : steady_clock().now());
  pump();
}

void HttpClient::finish(Exchange& exchange, std::optional<Failure> failure, TimePoint done) {
  exchange.done = done;
  if (failure) exchange.failure = std::make_unique<Failure>(std::move(*failure));
  sink_.finished(exchange);
}

class HttpTarget final : public Target {
 public:
  explicit HttpTarget(Requests requests) : requests_(std::move(requests)) {}
  std::unique_ptr<Client> make_client(Loop& loop, ExchangeSink& sink) const override {
    return std::make_unique<HttpClient>(requests_, loop, sink);
  }

 private:
  const Requests requests_;
};

}  // namespace

Result<std::unique_ptr<Target>> make_http_target(const Address& address,
                                                 const std::vector<const PayloadSet*>& payloads,
                                                 const HttpTargetOptions& options) {
  const HttpEncoding encoding{address.authority, address.prefix, options.headers, options.input,
                              options.output};
  Requests requests{address, options, payloads, {}};
  for (const PayloadSet* set : payloads) {
    auto& encoded = requests.encoded.emplace_back();
    for (const Payload& payload : set->payloads) {
      PROA_ASSIGN(HttpRequest request, HttpRequest::make(set->model, payload, encoding));
      encoded.push_back(std::move(request));
    }
  }
  return std::unique_ptr<Target>(std::make_unique<HttpTarget>(std::move(requests)));
}

}  // namespace proa::loadgen
