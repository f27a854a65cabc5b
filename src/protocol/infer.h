#pragma once

#include <cstdint>
#include <forward_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/parameter.h"
#include "base/result.h"
#include "tensor/tensor.h"

namespace proa::protocol {

// A KServe v2 inference request and response as they stand on the wire, before and after any model
// is known. The JSON reader (infer_json.h) and the protobuf reader (infer_proto.h) make the first;
// the writers take the second.
// Views point into the message's body, which the reader's caller keeps alive.

// Limits of one request; a reader answers kInvalidArgument beyond them.
inline constexpr std::size_t kMaxTensors = 4096;     // inputs, and requested outputs
inline constexpr std::size_t kMaxParameters = 1024;  // of the request and all its tensors together

struct InferInput {
  std::string_view name;
  std::string_view datatype;
  DataType type = DataType::kInvalid;  // parsed; kInvalid = unknown name
  Shape shape;
  // Row-major bytes: a range of the body (binary, raw), or a buffer of its own (JSON data, typed
  // contents), BYTES in the length-prefixed form.
  BufferView data;
  Parameters parameters;
};

struct InferRequestedOutput {
  std::string_view name;
  std::uint32_t classification = 0;  // > 0: top-N labels instead of the tensor
  std::optional<bool> binary;        // JSON only: binary_data
  Parameters parameters;
};

struct InferRequest {
  std::string_view model_name;  // gRPC only; HTTP has it in the path
  std::string_view model_version;
  std::string_view id;
  // Parameters with a meaning of their own are in the fields below and not in the list.
  Parameters parameters;
  std::vector<InferInput> inputs;
  std::vector<InferRequestedOutput> outputs;  // empty = all

  std::variant<std::uint64_t, std::string> sequence_id = std::uint64_t{0};
  bool sequence_start = false;
  bool sequence_end = false;
  std::uint64_t priority = 0;
  std::uint64_t timeout_us = 0;
  bool binary_data_output = false;           // JSON: default for outputs that say nothing
  bool enable_empty_final_response = false;  // gRPC streams

  // Of the inputs' data: what are buffers of its own, beyond the message's body.
  std::size_t decoded_bytes = 0;

  // Owns strings that could not be views (JSON escapes). Elements never move.
  std::forward_list<std::string> owned_strings;
};

struct InferOutput {
  std::string_view name;
  const Tensor* tensor = nullptr;
  bool binary = true;  // JSON only
  Parameters parameters;
};

struct InferResponse {
  std::string_view model_name;
  std::string_view model_version;
  std::string_view id;
  Parameters parameters;
  std::vector<InferOutput> outputs;
};

// A part of an encoded message: bytes of its own, or (when `bytes` is empty) a range of somebody's
// buffer, which it keeps alive.
struct MessagePart {
  std::string bytes;
  BufferView view;
};

// An encoded message: its parts in order, and the sum of their sizes.
struct EncodedMessage {
  std::vector<MessagePart> parts;
  std::size_t size = 0;
};

// Outputs of at least this many bytes are referenced by an encoded message; smaller ones are copied
// into it, so that a small response is one part.
inline constexpr std::size_t kReferenceFromBytes = 4096;

}  // namespace proa::protocol
