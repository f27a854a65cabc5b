// What reading a request and writing its response costs.
#include <cstring>

#include "benchmark/benchmark.h"
#include "proto/grpc_service.pb.h"
#include "protocol/infer_proto.h"

namespace proa::protocol {
namespace {

BufferView buffer_of(std::string_view bytes) {
  Buffer buffer = Buffer::allocate(bytes.size());
  std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return BufferView(std::move(buffer));
}

inference::ModelInferRequest request_of(std::int64_t elements) {
  inference::ModelInferRequest message;
  message.set_model_name("identity_fp32");
  auto& input = *message.add_inputs();
  input.set_name("INPUT0");
  input.set_datatype("FP32");
  input.add_shape(1);
  input.add_shape(elements);
  message.add_outputs()->set_name("OUTPUT0");
  message.add_raw_input_contents(std::string(elements * 4, '\1'));
  return message;
}

// Reads a request and answers with its input.
void BM_ProtoReadAndWrite(benchmark::State& state) {
  const BufferView bytes = buffer_of(request_of(state.range(0)).SerializeAsString());
  for (auto _ : state) {
    Result<InferRequest> request = read_infer_request(bytes);
    Tensor tensor{request->inputs[0].type, request->inputs[0].shape, request->inputs[0].data};
    InferResponse response;
    response.model_name = request->model_name;
    response.model_version = "1";
    response.outputs.push_back({.name = "OUTPUT0", .tensor = &tensor});
    benchmark::DoNotOptimize(write_infer_response(response, {}));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size));
}
BENCHMARK(BM_ProtoReadAndWrite)->Arg(16)->Arg(150528);

// The same with protobuf's generated code.
void BM_ProtobufReadAndWrite(benchmark::State& state) {
  const std::string bytes = request_of(state.range(0)).SerializeAsString();
  for (auto _ : state) {
    inference::ModelInferRequest request;
    request.ParseFromString(bytes);
    inference::ModelInferResponse response;
    response.set_model_name(request.model_name());
    response.set_model_version("1");
    auto& output = *response.add_outputs();
    output.set_name("OUTPUT0");
    output.set_datatype(request.inputs(0).datatype());
    *output.mutable_shape() = request.inputs(0).shape();
    response.add_raw_output_contents(request.raw_input_contents(0));
    benchmark::DoNotOptimize(response.SerializeAsString());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}
BENCHMARK(BM_ProtobufReadAndWrite)->Arg(16)->Arg(150528);

}  // namespace
}  // namespace proa::protocol
