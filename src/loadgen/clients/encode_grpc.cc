#include "loadgen/clients/encode_grpc.h"

#include <cstdint>
#include <type_traits>
#include <variant>

#include "proto/grpc_service.pb.h"
#include "protocol/wire_reader.h"

namespace proa::loadgen {
namespace {

using protocol::wire_tag;
using protocol::WireReader;
using protocol::WireType;

constexpr std::size_t kFrameBytes = 5;
constexpr std::size_t kMostBytes = INT32_MAX;

void set_parameter(inference::ModelInferRequest& request, const Parameter& parameter) {
  auto& to = (*request.mutable_parameters())[parameter.name];
  std::visit(
      [&](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, bool>) {
          to.set_bool_param(value);
        } else if constexpr (std::is_same_v<Value, std::int64_t>) {
          to.set_int64_param(value);
        } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
          to.set_uint64_param(value);
        } else if constexpr (std::is_same_v<Value, double>) {
          to.set_double_param(value);
        } else {
          to.set_string_param(value);
        }
      },
      parameter.value);
}

void put_frame(std::string& framed) {
  const std::size_t size = framed.size() - kFrameBytes;
  framed[0] = 0;
  for (std::size_t i = 0; i < 4; ++i) framed[1 + i] = static_cast<char>(size >> (24 - 8 * i));
}

// A map entry {key, InferParameter}; false when it is malformed.
bool read_final_flag(std::string_view entry, std::optional<bool>& final) {
  WireReader reader(entry);
  std::string_view key;
  std::string_view value;
  while (!reader.done()) {
    std::uint32_t tag = 0;
    if (!reader.read_tag(tag)) return false;
    const bool ok = tag == wire_tag(1, WireType::kBytes)   ? reader.read_bytes(key)
                    : tag == wire_tag(2, WireType::kBytes) ? reader.read_bytes(value)
                                                           : reader.skip(tag);
    if (!ok) return false;
  }
  if (key != "triton_final_response") return true;
  WireReader parameter(value);
  while (!parameter.done()) {
    std::uint32_t tag = 0;
    std::uint64_t number = 0;
    if (!parameter.read_tag(tag)) return false;
    if (tag != wire_tag(1, WireType::kVarint)) {
      if (!parameter.skip(tag)) return false;
      continue;
    }
    if (!parameter.read_varint(number)) return false;
    final = number != 0;
  }
  return true;
}

bool read_response(StreamAnswer& answer) {
  WireReader reader(answer.response);
  answer.empty = true;
  while (!reader.done()) {
    std::uint32_t tag = 0;
    std::string_view bytes;
    if (!reader.read_tag(tag)) return false;
    if (tag == wire_tag(4, WireType::kBytes)) {  // parameters
      if (!reader.read_bytes(bytes) || !read_final_flag(bytes, answer.final)) return false;
      continue;
    }
    if (tag == wire_tag(5, WireType::kBytes)) answer.empty = false;  // outputs
    if (!reader.skip(tag)) return false;
  }
  return true;
}

}  // namespace

std::string frame_grpc_message(std::string_view message) {
  std::string framed(kFrameBytes, '\0');
  framed += message;
  put_frame(framed);
  return framed;
}

Result<GrpcRequest> GrpcRequest::make(const ModelSignature& model, const Payload& payload,
                                      bool stream) {
  inference::ModelInferRequest request;
  request.set_model_name(model.name);
  request.set_model_version(model.version);
  std::size_t size = 0;
  for (const NamedTensor& input : payload.inputs) {
    auto& tensor = *request.add_inputs();
    tensor.set_name(input.name);
    tensor.set_datatype(std::string(data_type_name(input.tensor.type)));
    for (const std::int64_t extent : input.tensor.shape.dims()) tensor.add_shape(extent);
    request.add_raw_input_contents(input.tensor.data.data(), input.tensor.data.size);
    size += input.tensor.data.size;
  }
  if (size > kMostBytes / 2) {
    return error::invalid_argument("a request of {} bytes does not fit a gRPC message", size);
  }
  for (const Parameter& parameter : payload.parameters) set_parameter(request, parameter);
  if (stream && model.decoupled) {
    (*request.mutable_parameters())["triton_enable_empty_final_response"].set_bool_param(true);
  }
  GrpcRequest made;
  made.framed_ = frame_grpc_message(request.SerializeAsString());
  return made;
}

std::string GrpcRequest::bytes(const SequencePlace& sequence) const {
  // Fields of a message may come in any order and in parts: the sequence's parameters come last.
  inference::ModelInferRequest more;
  auto& parameters = *more.mutable_parameters();
  parameters["sequence_id"].set_int64_param(static_cast<std::int64_t>(sequence.id));
  parameters["sequence_start"].set_bool_param(sequence.start);
  parameters["sequence_end"].set_bool_param(sequence.end);
  std::string framed = framed_;
  more.AppendToString(&framed);
  put_frame(framed);
  return framed;
}

Result<StreamAnswer> read_stream_answer(std::string_view message) {
  StreamAnswer answer;
  WireReader reader(message);
  bool good = true;
  while (good && !reader.done()) {
    std::uint32_t tag = 0;
    good = reader.read_tag(tag);
    if (!good) break;
    good = tag == wire_tag(1, WireType::kBytes)   ? reader.read_bytes(answer.error)
           : tag == wire_tag(2, WireType::kBytes) ? reader.read_bytes(answer.response)
                                                  : reader.skip(tag);
  }
  if (good && read_response(answer)) return answer;
  return error::internal("the answer is no ModelStreamInferResponse");
}

}  // namespace proa::loadgen
