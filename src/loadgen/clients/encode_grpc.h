#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "loadgen/clients/client.h"
#include "loadgen/payloads.h"

namespace proa::loadgen {

// One payload as a framed ModelInferRequest, made before the load starts.
// Threading: immutable once made.
class GrpcRequest {
 public:
  // `stream`: for ModelStreamInfer; the answer of a decoupled model then ends with an empty one
  // that says so. Errors: kInvalidArgument for messages beyond protobuf's 2 GiB.
  static Result<GrpcRequest> make(const ModelSignature& model, const Payload& payload, bool stream);

  // The whole framed message of a payload that stands in no sequence.
  const std::string& bytes() const { return framed_; }
  // The same with its place in a sequence; made anew each time.
  std::string bytes(const SequencePlace& sequence) const;

 private:
  std::string framed_;
};

// The five bytes of framing and the message.
std::string frame_grpc_message(std::string_view message);

// What one message of ModelStreamInfer says.
struct StreamAnswer {
  std::string_view error;     // "" = none
  std::string_view response;  // the ModelInferResponse
  // Parameter triton_final_response, where it stands.
  std::optional<bool> final;
  bool empty = false;  // no outputs in it
};
// Errors: kInternal when the bytes are no ModelStreamInferResponse.
Result<StreamAnswer> read_stream_answer(std::string_view message);

}  // namespace proa::loadgen
