#include "loadgen/clients/grpc_client.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "loadgen/clients/answer.h"
#include "loadgen/clients/encode_grpc.h"
#include "loadgen/clients/grpc_connection.h"
#include "loadgen/clients/waiting_list.h"

namespace proa::loadgen {
namespace {

constexpr std::string_view kUnary = "/inference.GRPCInferenceService/ModelInfer";
constexpr std::string_view kStream = "/inference.GRPCInferenceService/ModelStreamInfer";

// What the whole load sends, and where.
struct Requests {
  Address address;
  GrpcTargetOptions options;
  std::vector<const PayloadSet*> sets;
  std::vector<std::vector<GrpcRequest>> encoded;  // by model and payload

  const Payload& payload_of(const Exchange& exchange) const {
    return sets[exchange.model]->payloads[exchange.payload];
  }
};

class GrpcClient final : public Client, private GrpcConnection::Owner {
 public:
  GrpcClient(const Requests& requests, Loop& loop, ExchangeSink& sink)
      : requests_(requests), loop_(loop), sink_(sink) {}

  void prepare(std::size_t in_flight) override {
    const std::size_t each = requests_.options.calls_per_connection;
    const std::size_t wanted = (in_flight + each - 1) / each;
    while (connections_.size() < std::min(wanted, requests_.options.max_connections)) {
      ++preparing_;
      add_connection();
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
  void flush() override {
    for (const auto& connection : connections_) connection->flush();
  }
  void cancel(Exchange& exchange, Failure failure) override;
  Statistics statistics() const override { return statistics_; }

 private:
  // A call and the request on it.
  class Lane final : public GrpcCall {
   public:
    explicit Lane(GrpcClient& client) : client_(client) {}

    GrpcConnection* connection = nullptr;  // where the call is open, or was
    Exchange* exchange = nullptr;
    std::string own_bytes;  // of a request that is made for its place in a sequence

   private:
    void message(std::string_view bytes) override { client_.message(*this, bytes); }
    void ended(const GrpcEnd& end) override { client_.ended(*this, end); }

    GrpcClient& client_;
  };

  GrpcConnection& add_connection();
  bool backing_off() const { return back_off_.holds(steady_clock().now()); }
  void pump();
  Lane* take_lane();
  GrpcConnection* find_room();
  bool begin(Lane& lane, Exchange& exchange);
  void message(Lane& lane, std::string_view bytes);
  void ended(Lane& lane, const GrpcEnd& end);
  void connected(GrpcConnection& connection) override;
  void lost(GrpcConnection& connection, const Failure& failure, bool while_connecting) override;
  void judge(Exchange& exchange, std::string_view response) const;
  void finish(Lane& lane, std::optional<Failure> failure);
  void fail_unsent(Exchange& exchange, Failure failure);

  const Requests& requests_;
  Loop& loop_;
  ExchangeSink& sink_;
  std::vector<std::unique_ptr<GrpcConnection>> connections_;
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

GrpcConnection& GrpcClient::add_connection() {
  GrpcConnection::Owner& owner = *this;
  auto& connection = *connections_.emplace_back(std::make_unique<GrpcConnection>(
      loop_, requests_.address, requests_.options.metadata, owner));
  connection.connect();
  return connection;
}

// Sends what waits, as long as there is room. Requests that fail at once end in here again.
void GrpcClient::pump() {
  if (closing_ || std::exchange(pumping_, true)) return;
  while (!waiting_.empty()) {
    if (backing_off()) {
      fail_unsent(waiting_.take_front(), last_failure_);
      continue;
    }
    Lane* lane = take_lane();
    if (lane == nullptr && backing_off()) continue;  // connecting has just failed
    if (lane == nullptr) break;
    Exchange& exchange = waiting_.take_front();
    if (begin(*lane, exchange)) continue;
    idle_.push_back(lane);
    fail_unsent(exchange, {"connection closed", "the server takes no further calls"});
  }
  pumping_ = false;
}

// An idle lane on a connection with room; nothing when there is no room at all.
GrpcClient::Lane* GrpcClient::take_lane() {
  if (!idle_.empty() && idle_.back()->is_open()) {  // a stream that waits for its next request
    Lane* lane = idle_.back();
    idle_.pop_back();
    return lane;
  }
  GrpcConnection* connection = find_room();
  if (connection == nullptr) return nullptr;
  if (idle_.empty()) idle_.push_back(lanes_.emplace_back(std::make_unique<Lane>(*this)).get());
  Lane* lane = idle_.back();
  idle_.pop_back();
  lane->connection = connection;
  return lane;
}

GrpcConnection* GrpcClient::find_room() {
  const std::size_t most = requests_.options.calls_per_connection;
  for (const auto& connection : connections_) {
    if (connection->closed()) connection->connect();
    if (!connection->closed() && connection->room(most) > 0) return connection.get();
  }
  if (connections_.size() >= requests_.options.max_connections) return nullptr;
  GrpcConnection& added = add_connection();
  return added.closed() ? nullptr : &added;
}

bool GrpcClient::begin(Lane& lane, Exchange& exchange) {
  const bool stream = requests_.options.stream;
  if (!lane.is_open() && !lane.connection->open(lane, stream ? kStream : kUnary)) return false;
  lane.exchange = &exchange;
  lane.keep_messages = stream || !requests_.payload_of(exchange).expected.empty();
  const GrpcRequest& request = requests_.encoded[exchange.model][exchange.payload];
  std::string_view bytes = request.bytes();
  if (exchange.sequence.id != 0) {
    lane.own_bytes = request.bytes(exchange.sequence);
    bytes = lane.own_bytes;
  }
  exchange.bytes_sent = bytes.size();
  lane.connection->send(lane, bytes, !stream);
  return true;
}

void GrpcClient::cancel(Exchange& exchange, Failure failure) {
  if (waiting_.remove(exchange)) {
    fail_unsent(exchange, std::move(failure));
    return;
  }
  for (const auto& lane : lanes_) {
    if (lane->exchange != &exchange) continue;
    lane->connection->cancel(*lane);
    finish(*lane, std::move(failure));
    return;
  }
}

void GrpcClient::message(Lane& lane, std::string_view bytes) {
  if (lane.exchange == nullptr) return;  // after its end
  Exchange& exchange = *lane.exchange;
  if (!requests_.options.stream) {
    ++exchange.responses;
    judge(exchange, bytes);
    return;
  }
  const auto answer = read_stream_answer(bytes);
  if (!answer) {
    finish(lane, Failure{"nonsense", answer.error().message});
    return;
  }
  const bool decoupled = requests_.sets[exchange.model]->model.decoupled;
  if (!answer->error.empty()) {
    Failure failure{"gRPC stream error", std::string(answer->error)};
    // A decoupled model may go on after an error; its end belongs to this request.
    if (!decoupled || answer->final.value_or(true)) {
      finish(lane, std::move(failure));
    } else if (exchange.failure == nullptr) {
      exchange.failure = std::make_unique<Failure>(std::move(failure));
    }
    return;
  }
  if (!answer->empty || !decoupled) {
    ++exchange.responses;
    if (exchange.keep_response_times) exchange.response_times.push_back(lane.times().last_byte);
    judge(exchange, answer->response);
  }
  if (!decoupled || answer->final.value_or(false)) finish(lane, std::nullopt);
}

void GrpcClient::ended(Lane& lane, const GrpcEnd& end) {
  if (lane.exchange == nullptr) return;  // an idle stream
  if (end.status == 0 && !requests_.options.stream && lane.exchange->responses == 1) {
    finish(lane, std::nullopt);
  } else if (end.status == 0) {
    finish(lane, Failure{"nonsense", "the call ended without an answer"});
  } else {
    finish(lane, Failure{end.kind(), end.message});
  }
}

// Compares a response with what was expected; the first wrong one counts for the request.
void GrpcClient::judge(Exchange& exchange, std::string_view response) const {
  const Payload& payload = requests_.payload_of(exchange);
  if (payload.expected.empty() || exchange.failure != nullptr) return;
  const auto answer = read_grpc_answer(response);
  const Status same =
      answer ? check_answer(payload, *answer, requests_.options.tolerance) : Status(answer.error());
  if (!same) exchange.failure = std::make_unique<Failure>("wrong answer", same.error().message);
}

// The lane's request is over: the next one takes its place.
void GrpcClient::finish(Lane& lane, std::optional<Failure> failure) {
  Exchange& exchange = *std::exchange(lane.exchange, nullptr);
  const GrpcCall::Times& times = lane.times();
  const TimePoint now =
      times.last_byte == TimePoint() || failure ? steady_clock().now() : times.last_byte;
  exchange.sent = times.sent == TimePoint() ? now : times.sent;
  exchange.sent_all = times.sent_all == TimePoint() ? exchange.sent : times.sent_all;
  exchange.first_byte = times.first_byte;
  exchange.bytes_received = times.bytes_received;
  exchange.done = now;
  if (failure) exchange.failure = std::make_unique<Failure>(std::move(*failure));
  idle_.push_back(&lane);
  sink_.finished(exchange);
  pump();
}

void GrpcClient::fail_unsent(Exchange& exchange, Failure failure) {
  exchange.sent = exchange.sent_all = exchange.done = steady_clock().now();
  exchange.failure = std::make_unique<Failure>(std::move(failure));
  sink_.finished(exchange);
}

void GrpcClient::connected(GrpcConnection&) {
  --preparing_;
  ++statistics_.connections;
  const std::uint64_t places = connections_.size();
  statistics_.reconnects = std::max(statistics_.connections, places) - places;
  back_off_.succeeded();
}

void GrpcClient::lost(GrpcConnection&, const Failure& failure, bool while_connecting) {
  if (!while_connecting) return;
  --preparing_;
  last_failure_ = failure;
  back_off_.failed(steady_clock().now());
}

class GrpcTarget final : public Target {
 public:
  explicit GrpcTarget(Requests requests) : requests_(std::move(requests)) {}
  std::unique_ptr<Client> make_client(Loop& loop, ExchangeSink& sink) const override {
    return std::make_unique<GrpcClient>(requests_, loop, sink);
  }

 private:
  const Requests requests_;
};

}  // namespace

Result<std::unique_ptr<Target>> make_grpc_target(const Address& address,
                                                 const std::vector<const PayloadSet*>& payloads,
                                                 const GrpcTargetOptions& options) {
  Requests requests{address, options, payloads, {}};
  for (const PayloadSet* set : payloads) {
    auto& encoded = requests.encoded.emplace_back();
    for (const Payload& payload : set->payloads) {
      PROA_ASSIGN(GrpcRequest request, GrpcRequest::make(set->model, payload, options.stream));
      encoded.push_back(std::move(request));
    }
  }
  return std::unique_ptr<Target>(std::make_unique<GrpcTarget>(std::move(requests)));
}

}  // namespace proa::loadgen
