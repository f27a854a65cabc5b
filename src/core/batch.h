#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "core/close_reason.h"
#include "core/request.h"

namespace proa::core {

// Requests that are computed together, and their results. The scheduler makes one, an instance
// fills it, the completion splits it into responses.
//
// Inputs are concatenated along the batch dimension: exactly one copy (`gather`), none when a
// single request fills the batch (`single_input`). Models that do not batch get one request a
// batch. Threading: confined to its current owner.
class Batch {
 public:
  explicit Batch(std::vector<std::unique_ptr<Request>> requests);

  std::span<std::unique_ptr<Request>> requests() { return requests_; }
  std::span<const std::unique_ptr<Request>> requests() const { return requests_; }
  // The sum of the requests' batch sizes.
  std::int64_t size() const { return size_; }

  // Input `i` of the whole batch: its shape ([size(), ...] when the model batches), its bytes.
  // Optional inputs are present in all requests or in none (has_input).
  bool has_input(std::size_t i) const;
  Shape input_shape(std::size_t i) const;
  std::size_t input_bytes(std::size_t i) const;
  // The tensor itself when one request fills the batch; null when it must be gathered.
  const Tensor* single_input(std::size_t i) const;
  // Copies input `i` of all requests, one behind the other; `to` holds input_bytes(i) bytes.
  void gather(std::size_t i, std::span<std::byte> to) const;

  // Output `i` of the whole batch, rows in the order of the requests. Its first extent is size()
  // when the model batches.
  void set_output(std::size_t i, Tensor tensor);
  // Answers one request by itself instead of a slice of the outputs.
  void set_response(std::size_t request, Response response);
  // Fails every request that has no response of its own.
  void fail(Error error);

  CloseReason close_reason = CloseReason::kFull;  // why the scheduler closed it
  // The moments that statistics report; an instance sets the two in the middle.
  TimePoint started = kNever;       // handed to the instance
  TimePoint inputs_ready = kNever;  // inputs are in place, computation begins
  TimePoint computed = kNever;      // computation has ended, outputs are taken
  TimePoint finished = kNever;      // `done` was called

  // One response per request, in order: its own, the error, or its slice of the outputs (reshaped
  // where the configuration says so). Slices of
  // 64 KiB or more share the batch's buffers, smaller ones are copies, so that a slow reader does
  // not hold a whole batch. Call once, last.
  std::vector<Response> take_responses();

  static constexpr std::size_t kShareSliceBytes = 64 * 1024;

 private:
  // Gives each response its slice of the outputs; sets error_ when they do not have size() rows.
  void split_outputs(std::vector<Response>& responses);
  // Gives outputs whose configuration has a `reshape` the shape that clients see.
  void reshape_outputs(Response& response) const;

  std::vector<std::unique_ptr<Request>> requests_;
  std::int64_t size_ = 0;
  std::vector<Tensor> outputs_;
  std::vector<std::unique_ptr<Response>> own_responses_;
  std::optional<Error> error_;
};

}  // namespace proa::core
