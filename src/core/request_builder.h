#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/result.h"
#include "core/model.h"
#include "core/request.h"

namespace proa::core {

// An input as the client named it.
struct NamedInput {
  std::string_view name;
  DataType type = DataType::kInvalid;
  Shape shape;
  BufferView data;
};

// Checks what a client sent against the model's signature, once, and makes a Request of it (inputs,
// requested outputs and batch size set; everything else is the caller's to set). Inputs with a
// `reshape` in the configuration get the shape that the model wants.
//
// `requested_outputs` are output names, empty = all.
// Errors (kInvalidArgument, messages in Triton's words where clients match on them): unknown,
// duplicate or missing inputs, data type, rank, extents, byte size, malformed BYTES, batch sizes
// that differ between inputs or exceed max_batch_size, unknown or duplicate outputs.
Result<std::unique_ptr<Request>> build_request(std::shared_ptr<Model> model,
                                               std::span<const NamedInput> inputs,
                                               std::span<const std::string_view> requested_outputs,
                                               std::string_view request_id);

// The queue time-out that a client asks for, cut to half of what a Duration holds (146 years), so
// that a deadline can be computed.
std::chrono::microseconds queue_timeout(std::uint64_t timeout_us);

}  // namespace proa::core
