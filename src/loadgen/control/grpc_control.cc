#include <utility>

#include "fmt/format.h"
#include "loadgen/clients/encode_grpc.h"
#include "loadgen/clients/grpc_connection.h"
#include "loadgen/control/control.h"
#include "proto/grpc_service.pb.h"
#include "proto/json.h"

namespace proa::loadgen {
namespace {

// A unary call that is waited for.
class BlockingCall final : public GrpcCall {
 public:
  bool done = false;
  GrpcEnd end;
  std::string answer;

 private:
  void message(std::string_view bytes) override { answer = bytes; }
  void ended(const GrpcEnd& how) override {
    end = how;
    done = true;
  }
};

Error error_of(const GrpcEnd& end) {
  if (!end.transport.empty()) {
    return error::unavailable("the server cannot be asked: {}", end.message);
  }
  // The codes are gRPC's; those that proa does not name count as unknown.
  switch (const auto code = static_cast<ErrorCode>(end.status)) {
    case ErrorCode::kNotFound:
    case ErrorCode::kUnimplemented:
    case ErrorCode::kUnavailable:
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kInternal:
      return {code, end.message};
    default:
      return error::unknown("{}", end.message.empty() ? end.kind() : end.message);
  }
}

class GrpcControl final : public ControlChannel, private GrpcConnection::Owner {
 public:
  GrpcControl(const Address& address, std::vector<std::string> metadata)
      : address_(address),
        metadata_(std::move(metadata)),
        connection_(loop_, address_, metadata_, *this) {}
  Status open() { return loop_.open(); }

  Result<std::string> ask(Question question, std::string_view model,
                          std::string_view version) override {
    switch (question) {
      case Question::kServerMetadata:
        return ask<inference::ServerMetadataResponse>("ServerMetadata",
                                                      inference::ServerMetadataRequest());
      case Question::kModelMetadata:
        return ask<inference::ModelMetadataResponse>(
            "ModelMetadata", about<inference::ModelMetadataRequest>(model, version));
      case Question::kModelConfig:
        return ask<inference::ModelConfigResponse>(
            "ModelConfig", about<inference::ModelConfigRequest>(model, version));
      case Question::kModelStatistics:
        break;
    }
    return ask<inference::ModelStatisticsResponse>(
        "ModelStatistics", about<inference::ModelStatisticsRequest>(model, version));
  }

 private:
  template <class Request>
  static Request about(std::string_view model, std::string_view version) {
    Request request;
    request.set_name(std::string(model));
    request.set_version(std::string(version));
    return request;
  }

  template <class Response>
  Result<std::string> ask(std::string_view method, const google::protobuf::Message& request) {
    PROA_ASSIGN(const std::string bytes, call(method, request.SerializeAsString()));
    Response response;
    if (!response.ParseFromString(bytes)) {
      return error::internal("the server's answer to {} is not KServe v2", method);
    }
    if constexpr (std::is_same_v<Response, inference::ModelConfigResponse>) {
      return proto::to_json(response.config());
    } else {
      return proto::to_json(response);
    }
  }

  Result<std::string> call(std::string_view method, std::string_view message) {
    const std::string path = fmt::format("/inference.GRPCInferenceService/{}", method);
    const std::string framed = frame_grpc_message(message);
    BlockingCall call;
    connection_.connect();
    if (!connection_.open(call, path)) {
      return error::unavailable("{}", lost_.empty() ? "the server takes no calls" : lost_);
    }
    connection_.send(call, framed, true);
    const TimePoint limit = steady_clock().now() + kControlTimeout;
    while (!call.done && steady_clock().now() < limit) {
      connection_.flush();
      if (!call.done) loop_.run_once(limit);
    }
    if (!call.done) {
      connection_.cancel(call);
      return error::deadline_exceeded("the server at {} did not answer {} within {} s",
                                      address_.authority, method, kControlTimeout.count());
    }
    if (call.end.status != 0) return error_of(call.end);
    return std::move(call.answer);
  }

  void connected(GrpcConnection&) override {}
  void lost(GrpcConnection&, const Failure& failure, bool) override { lost_ = failure.message; }

  const Address& address_;
  const std::vector<std::string> metadata_;
  Loop loop_;
  GrpcConnection connection_;
  std::string lost_;
};

}  // namespace

Result<std::unique_ptr<ControlChannel>> make_grpc_control(const Address& address,
                                                          std::vector<std::string> metadata) {
  auto control = std::make_unique<GrpcControl>(address, std::move(metadata));
  PROA_TRY(control->open());
  return std::unique_ptr<ControlChannel>(std::move(control));
}

}  // namespace proa::loadgen
