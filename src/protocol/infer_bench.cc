// What reading a request and writing its response costs.
#include <cstring>

#include "benchmark/benchmark.h"
#include "fmt/format.h"
#include "proto/grpc_service.pb.h"
#include "protocol/infer_json.h"
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

// The answer to a request with one input: that input.
struct Echo {
  explicit Echo(const InferRequest& request, bool binary)
      : tensor{request.inputs[0].type, request.inputs[0].shape, request.inputs[0].data} {
    response.model_name = "identity_fp32";
    response.model_version = "1";
    response.outputs.push_back({.name = "OUTPUT0", .tensor = &tensor, .binary = binary});
  }
  Tensor tensor;
  InferResponse response;
};

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void BM_ProtoReadAndWrite(benchmark::State& state) {
  const BufferView bytes = buffer_of(request_of(state.range(0)).SerializeAsString());
  for (auto _ : state) {
    const Result<InferRequest> request = read_infer_request(bytes);
    const Echo echo(*request, true);
    benchmark::DoNotOptimize(write_infer_response(echo.response, {}));
  }
  count_bytes(state, bytes.size);
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
  count_bytes(state, bytes.size());
}
BENCHMARK(BM_ProtobufReadAndWrite)->Arg(16)->Arg(150528);

// HTTP with binary tensors both ways.
void BM_BinaryReadAndWrite(benchmark::State& state) {
  const std::string json =
      fmt::format(R"({{"inputs":[{{"name":"INPUT0","shape":[1,{}],"datatype":"FP32",)"
                  R"("parameters":{{"binary_data_size":{}}}}}],)"
                  R"("outputs":[{{"name":"OUTPUT0","parameters":{{"binary_data":true}}}}]}})",
                  state.range(0), state.range(0) * 4);
  const BufferView body = buffer_of(json + std::string(state.range(0) * 4, '\1'));
  InferJsonReader reader;
  for (auto _ : state) {
    const Result<InferRequest> request = reader.read(body, json.size());
    const Echo echo(*request, true);
    benchmark::DoNotOptimize(write_infer_response_json(echo.response));
  }
  count_bytes(state, body.size);
}
BENCHMARK(BM_BinaryReadAndWrite)->Arg(16)->Arg(150528);

// A JSON request of numbers as Python's json.dumps() writes floats.
std::string json_request(std::int64_t elements) {
  std::string json = fmt::format(
      R"({{"inputs":[{{"name":"INPUT0","shape":[1,{}],"datatype":"FP32","data":[)", elements);
  for (std::int64_t i = 0; i < elements; ++i) {
    json += fmt::format("{}{}", i == 0 ? "" : ", ", static_cast<double>(0.123456789F * (i % 97)));
  }
  return json + "]}]}";
}

void BM_JsonRead(benchmark::State& state) {
  const BufferView body = buffer_of(json_request(state.range(0)));
  InferJsonReader reader;
  for (auto _ : state) benchmark::DoNotOptimize(reader.read(body, body.size));
  count_bytes(state, body.size);
}
BENCHMARK(BM_JsonRead)->Arg(16)->Arg(150528);

void BM_JsonWrite(benchmark::State& state) {
  const BufferView body = buffer_of(json_request(state.range(0)));
  InferJsonReader reader;
  const Result<InferRequest> request = reader.read(body, body.size);
  const Echo echo(*request, false);
  std::size_t size = 0;
  for (auto _ : state) size = write_infer_response_json(echo.response)->message.size;
  count_bytes(state, size);
}
BENCHMARK(BM_JsonWrite)->Arg(16)->Arg(150528);

}  // namespace
}  // namespace proa::protocol
