#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/cancellation.h"
#include "base/clock.h"
#include "base/parameter.h"
#include "base/result.h"
#include "boost/container/small_vector.hpp"
#include "core/memory_budget.h"
#include "tensor/tensor.h"

namespace proa::core {

class Model;

// One answer to a request. A request gets any number of them (most models: one).
struct Response {
  std::optional<Error> error;
  // By the index of the output in the model's configuration; type kInvalid = not produced or not
  // asked for. Shapes are whole: with the batch dimension in front when the model batches.
  std::vector<Tensor> outputs;
  Parameters parameters;
};

// Where the answers of one request go. The front end (or an ensemble, or a test) implements it.
//
// Threading: calls for one request never overlap, but may come from any thread: an event loop, an
// instance's thread, the timer. They must not block; a front end posts to its loop.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;

  // Delivers one response. `final` ends the request: exactly one call has it, and it is the last. A
  // final response without error and outputs only ends a request of a decoupled model.
  virtual void send(Response response, bool final) = 0;

  // How many bytes of outputs the client is ready to take. A producer of many responses waits while
  // this is 0; a single response is always taken.
  virtual std::size_t credit() const { return SIZE_MAX; }

  // Calls `ready` once, on any thread, when credit() is positive or nobody listens any more.
  virtual void when_credit(std::move_only_function<void()> ready) { ready(); }
};

// Which sequence a request belongs to; 0 or "" = none.
using CorrelationId = std::variant<std::uint64_t, std::string>;

// Steady-clock moments of a request's life; kNever = not reached.
struct RequestTimes {
  TimePoint received = kNever;  // the last byte of the body has come
  TimePoint enqueued = kNever;  // accepted by the model's scheduler
  TimePoint taken = kNever;     // left the queue with a batch
};

// What a request's answer took, in the parts that statistics tell apart.
struct TimeSpent {
  Duration queue{0};
  Duration compute_input{0};
  Duration compute_infer{0};
  Duration compute_output{0};

  void add(const TimeSpent& other) {
    queue += other.queue;
    compute_input += other.compute_input;
    compute_infer += other.compute_infer;
    compute_output += other.compute_output;
  }
};

// Holds versions of models for a request (see Dispatcher::pin). Threading: immutable.
class Pin {
 public:
  virtual ~Pin() = default;
};

// A question to one version of one model, checked against its signature (core/request_builder.h).
// Life: made by a front end, moved into Model::infer, moved into a Batch, destroyed after its final
// response went to the sink. Holding the model keeps that version from being unloaded.
// Threading: confined to its current owner.
struct Request {
  std::shared_ptr<Model> model;
  std::string id;
  Parameters parameters;

  // By the index of the input in the model's configuration; type kInvalid = an optional input that
  // was not sent. Shapes are whole, with the batch dimension when the model batches.
  std::vector<Tensor> inputs;
  // Indexes into the model's outputs; empty = all.
  boost::container::small_vector<std::uint16_t, 4> requested_outputs;
  // The first extent of every input; 1 for models that do not batch.
  std::int64_t batch_size = 1;

  CorrelationId correlation_id = std::uint64_t{0};
  bool sequence_start = false;
  bool sequence_end = false;

  int depth = 0;                         // of a model's own requests; core/model_access.h
  std::uint64_t priority = 0;            // 0 = the model's default level
  std::chrono::microseconds timeout{0};  // client's queue time-out; 0 = none
  TimePoint deadline = kNever;           // after it nobody wants the answer (gRPC deadline)
  std::shared_ptr<CancellationToken> cancellation;  // null = cannot be cancelled
  MemoryBudget::Reservation memory;  // the request's share of the server's in-flight bytes

  std::unique_ptr<ResponseSink> sink;
  RequestTimes times;
  // Where the time is added that a successful answer took, before its final response; null = nobody
  // asks. It lives as long as `sink`.
  TimeSpent* spent = nullptr;
  // For an ensemble within another: its steps' versions. Null = those that are there when it
  // begins.
  std::shared_ptr<const Pin> pin;

  bool wants_output(std::size_t index) const {
    if (requested_outputs.empty()) return true;
    for (const auto wanted : requested_outputs) {
      if (wanted == index) return true;
    }
    return false;
  }
  bool cancelled() const { return cancellation != nullptr && cancellation->cancelled(); }
};

}  // namespace proa::core
