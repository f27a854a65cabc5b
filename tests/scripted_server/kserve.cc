#include "kserve.h"

#include "proto/grpc_service.pb.h"

namespace proa::scripted {
namespace {

inference::ModelMetadataResponse metadata() {
  inference::ModelMetadataResponse model;
  model.set_name("scripted");
  model.add_versions("1");
  model.set_platform("scripted");
  auto& in = *model.add_inputs();
  in.set_name("IN");
  in.set_datatype("FP32");
  in.add_shape(-1);
  in.add_shape(4);
  auto& out = *model.add_outputs();
  out.set_name("OUT");
  out.set_datatype("FP32");
  out.add_shape(-1);
  out.add_shape(1);
  return model;
}

inference::ModelConfigResponse config() {
  inference::ModelConfigResponse response;
  auto& model = *response.mutable_config();
  model.set_name("scripted");
  model.set_max_batch_size(64);
  auto& in = *model.add_input();
  in.set_name("IN");
  in.set_data_type(inference::TYPE_FP32);
  in.add_dims(4);
  auto& out = *model.add_output();
  out.set_name("OUT");
  out.set_data_type(inference::TYPE_FP32);
  out.add_dims(1);
  return response;
}

}  // namespace

std::optional<std::string> http_answer(std::string_view path) {
  if (path.starts_with("/v2/health/") || path == "/v2/models/scripted/ready") return std::string();
  if (path == "/v2") return R"({"name":"scripted_server","version":"1","extensions":[]})";
  if (path == "/v2/models/scripted") {
    return R"({"name":"scripted","versions":["1"],"platform":"scripted",)"
           R"("inputs":[{"name":"IN","datatype":"FP32","shape":[-1,4]}],)"
           R"("outputs":[{"name":"OUT","datatype":"FP32","shape":[-1,1]}]})";
  }
  if (path == "/v2/models/scripted/config") {
    return R"({"name":"scripted","max_batch_size":64,)"
           R"("input":[{"name":"IN","data_type":"TYPE_FP32","dims":[4]}],)"
           R"("output":[{"name":"OUT","data_type":"TYPE_FP32","dims":[1]}]})";
  }
  return std::nullopt;
}

std::string_view http_inference() {
  return R"({"model_name":"scripted","model_version":"1",)"
         R"("outputs":[{"name":"OUT","datatype":"FP32","shape":[1,1],"data":[0]}]})";
}

std::optional<std::string> grpc_answer(std::string_view path) {
  constexpr std::string_view kService = "/inference.GRPCInferenceService/";
  if (!path.starts_with(kService)) return std::nullopt;
  const std::string_view method = path.substr(kService.size());
  if (method == "ServerLive" || method == "ServerReady" || method == "ModelReady") {
    inference::ServerReadyResponse ready;  // the others have the same form
    ready.set_ready(true);
    return ready.SerializeAsString();
  }
  if (method == "ServerMetadata") {
    inference::ServerMetadataResponse server;
    server.set_name("scripted_server");
    server.set_version("1");
    return server.SerializeAsString();
  }
  if (method == "ModelMetadata") return metadata().SerializeAsString();
  if (method == "ModelConfig") return config().SerializeAsString();
  return std::nullopt;
}

const std::string& grpc_inference() {
  static const std::string message = [] {
    inference::ModelInferResponse response;
    response.set_model_name("scripted");
    response.set_model_version("1");
    auto& out = *response.add_outputs();
    out.set_name("OUT");
    out.set_datatype("FP32");
    out.add_shape(1);
    out.add_shape(1);
    response.add_raw_output_contents(std::string(4, '\0'));
    return response.SerializeAsString();
  }();
  return message;
}

}  // namespace proa::scripted
