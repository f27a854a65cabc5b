#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "protocol/infer.h"
#include "tensor/buffer.h"

namespace proa::protocol {

// inference.ModelInferRequest and its responses, straight over the protobuf wire format: no message
// objects, no copies of tensors. Source: https://protobuf.dev/programming-guides/encoding/

// Reads one serialised ModelInferRequest. Views in the result point into `message`; raw tensors are
// ranges of its buffer. Typed contents become buffers of their own, in row-major bytes, which may
// be 8 times as large as on the wire: `max_decoded_bytes` bounds them together.
// Data types are parsed but not checked against anything: an unknown name with raw contents reads
// as kInvalid. Byte sizes against shapes are the caller's to check (core::build_request).
// Errors: kInvalidArgument, for bytes that are not a message (with the place, "inputs.shape at byte
// 93 of 120"), raw and typed contents together, a number of raw contents other than that of the
// inputs, contents of another type than the input's, values that do not fit it, parameters of a
// wrong type, names starting with "triton_", and beyond the limits of infer.h;
// kUnimplemented for shared memory; kUnavailable beyond `max_decoded_bytes`.
Result<InferRequest> read_infer_request(const BufferView& message,
                                        std::size_t max_decoded_bytes = SIZE_MAX);

struct ProtoWriteOptions {
  // Wraps the response as ModelStreamInferResponse.infer_response.
  bool stream = false;
  // Puts the five bytes of gRPC's message framing (not compressed) in front.
  bool grpc_frame = true;
};

// Serialises the response as ModelInferResponse. Outputs always travel as raw_output_contents, in
// order, and the message's last field, so that large ones are referenced instead of copied.
// Errors: kInternal when the message would exceed 2 GiB - 1, the limit of protobuf.
Result<EncodedMessage> write_infer_response(const InferResponse& response,
                                            const ProtoWriteOptions& options);

// A ModelStreamInferResponse that tells of a failed request. Of `response`, which has no outputs,
// it holds names, id and parameters.
EncodedMessage write_stream_error(std::string_view message, const InferResponse& response,
                                  bool grpc_frame = true);

}  // namespace proa::protocol
