#include "frontends/grpc/grpc_methods.h"

#include <set>
#include <string>

#include "frontends/grpc/grpc_call.h"
#include "frontends/testing/grpc_messages.h"
#include "frontends/testing/test_server.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "proto/health.pb.h"
#include "proto/reflection_v1.pb.h"

namespace proa::frontends {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct GrpcMethodsTest : ::testing::Test {
  TestServer server;

  template <class Response>
  Response ask(const std::string& method, const google::protobuf::Message& request) {
    const auto call = server.grpc_unary(method, request.SerializeAsString());
    EXPECT_EQ(call->trailer("grpc-status"), "0") << method;
    const auto messages = answers<Response>(*call);
    EXPECT_EQ(messages.size(), 1u) << method;
    return messages.empty() ? Response() : messages[0];
  }
  // "5: message" of a call that fails.
  std::string error(const std::string& method, std::string_view request) {
    const auto call = server.grpc_unary(method, request);
    EXPECT_TRUE(call->exchange.ended) << method;
    return call->trailer("grpc-status").value_or("?") + ": " +
           call->trailer("grpc-message").value_or("");
  }
};

TEST_F(GrpcMethodsTest, TellsHealthAndMetadata) {
  EXPECT_TRUE(
      ask<inference::ServerLiveResponse>("ServerLive", inference::ServerLiveRequest()).live());
  EXPECT_TRUE(
      ask<inference::ServerReadyResponse>("ServerReady", inference::ServerReadyRequest()).ready());
  EXPECT_EQ(
      ask<inference::ServerMetadataResponse>("ServerMetadata", inference::ServerMetadataRequest())
          .name(),
      "proa");
}

TEST_F(GrpcMethodsTest, DescribesModels) {
  inference::ModelMetadataRequest metadata;
  metadata.set_name("echo");
  EXPECT_EQ(ask<inference::ModelMetadataResponse>("ModelMetadata", metadata).inputs(0).datatype(),
            "FP32");
  inference::ModelConfigRequest config;
  config.set_name("echo");
  config.set_version("1");
  EXPECT_EQ(ask<inference::ModelConfigResponse>("ModelConfig", config).config().max_batch_size(),
            8);
  inference::ModelReadyRequest ready;
  ready.set_name("broken");
  EXPECT_FALSE(ask<inference::ModelReadyResponse>("ModelReady", ready).ready());
  EXPECT_EQ(ask<inference::ModelStatisticsResponse>("ModelStatistics",
                                                    inference::ModelStatisticsRequest())
                .model_stats_size(),
            5);
  EXPECT_EQ(ask<inference::RepositoryIndexResponse>("RepositoryIndex",
                                                    inference::RepositoryIndexRequest())
                .models_size(),
            6);
}

TEST_F(GrpcMethodsTest, AnswersEveryMethodOfTheService) {
  const auto* service = inference::ServerLiveRequest::descriptor()->file()->service(0);
  for (int i = 0; i < service->method_count(); ++i) {
    const std::string name = service->method(i)->name();
    const auto call = server.grpc_unary(name, "");
    ASSERT_TRUE(call->exchange.ended) << name;
    const std::string message = call->trailer("grpc-message").value_or("");
    EXPECT_THAT(message, ::testing::Not(HasSubstr("unknown method"))) << name;
  }
}

TEST_F(GrpcMethodsTest, RefusesByStatusAndSentence) {
  inference::ModelMetadataRequest unknown;
  unknown.set_name("nope");
  EXPECT_EQ(error("ModelMetadata", unknown.SerializeAsString()),
            "5: Request for unknown model: 'nope' is not found");
  EXPECT_THAT(error("RepositoryModelLoad", ""), ::testing::StartsWith("14: explicit model load"));
  EXPECT_THAT(error("TraceSetting", ""), ::testing::StartsWith("12: traces are not built"));
  for (const char* method : {"SystemSharedMemoryStatus", "CudaSharedMemoryRegister"}) {
    EXPECT_THAT(error(method, ""), ::testing::StartsWith("12: shared memory is not built"));
  }
  EXPECT_EQ(error("NoSuchMethod", ""),
            "12: unknown method /inference.GRPCInferenceService/NoSuchMethod");
  EXPECT_EQ(error("ModelReady", "\xff"), "3: malformed ModelReadyRequest");
}

TEST_F(GrpcMethodsTest, ShowsAndRefusesLogSettings) {
  inference::LogSettingsRequest request;
  const auto shown = ask<inference::LogSettingsResponse>("LogSettings", request);
  EXPECT_TRUE(shown.settings().at("log_info").bool_param());
  (*request.mutable_settings())["log_file"].set_string_param("/tmp/elsewhere");
  EXPECT_THAT(error("LogSettings", request.SerializeAsString()),
              ::testing::StartsWith("12: log file location can not be updated"));
}

TEST_F(GrpcMethodsTest, AUnaryCallHasExactlyOneMessage) {
  const auto none = server.grpc("ServerLive");
  none->end();
  EXPECT_EQ(none->trailer("grpc-status"), "13");
  const auto two = server.grpc("ServerLive");
  two->data(grpc_frame("") + grpc_frame(""));
  EXPECT_EQ(two->trailer("grpc-status"), "13");
}

TEST_F(GrpcMethodsTest, ControlCallsTakeSmallMessagesOnly) {
  EXPECT_THAT(error("ModelReady", std::string(kControlMessageBytes + 1, '\0')),
              ::testing::StartsWith("8: Received message larger than max"));
}

TEST_F(GrpcMethodsTest, OnlyProtobufOverPostIsSpoken) {
  const auto ask = [&](const std::string& method, const std::string& type) {
    ExchangeDriver call(
        server.loop(), server.frontend().factory({.grpc = true}),
        {method, "/inference.GRPCInferenceService/ServerLive", {{"content-type", type}}, 2});
    return call.exchange.status;
  };
  EXPECT_EQ(ask("POST", "application/grpc+proto"), 0);  // waits for its message
  EXPECT_EQ(ask("POST", "application/grpc+json"), 415);
  EXPECT_EQ(ask("POST", "application/grpc-web"), 415);
  EXPECT_EQ(ask("GET", "application/grpc"), 405);
  EXPECT_EQ(ask("POST", "application/json"), 404);
}

TEST_F(GrpcMethodsTest, HealthKnowsTheServerServicesAndModels) {
  const auto check = [&](const std::string& service) {
    HealthCheckRequest request;
    request.set_service(service);
    return ask<HealthCheckResponse>("/grpc.health.v1.Health/Check", request).status();
  };
  EXPECT_EQ(check(""), HealthCheckResponse::SERVING);
  EXPECT_EQ(check("inference.GRPCInferenceService"), HealthCheckResponse::SERVING);
  EXPECT_EQ(check("echo"), HealthCheckResponse::SERVING);
  EXPECT_EQ(check("broken"), HealthCheckResponse::NOT_SERVING);
  HealthCheckRequest unknown;
  unknown.set_service("nope");
  EXPECT_EQ(error("/grpc.health.v1.Health/Check", unknown.SerializeAsString()),
            "5: unknown service or model 'nope'");
  server.frontend().begin_shutdown();
  EXPECT_EQ(check(""), HealthCheckResponse::NOT_SERVING);
}

TEST_F(GrpcMethodsTest, WatchTellsChangesAndTheEnd) {
  HealthCheckRequest request;
  request.set_service("echo");
  const auto watch = server.grpc("/grpc.health.v1.Health/Watch");
  watch->data(grpc_frame(request.SerializeAsString()));
  watch->end();
  const auto told = [&] {
    std::vector<int> all;
    for (const auto& message : answers<HealthCheckResponse>(*watch)) {
      all.push_back(message.status());
    }
    return all;
  };
  EXPECT_THAT(told(), ElementsAre(HealthCheckResponse::SERVING));
  server.timer.advance(std::chrono::seconds(1));
  EXPECT_EQ(told().size(), 1u);
  ASSERT_TRUE(server.repository().unload("echo"));
  server.timer.advance(std::chrono::seconds(1));
  EXPECT_THAT(told(), ElementsAre(HealthCheckResponse::SERVING, HealthCheckResponse::NOT_SERVING));
  EXPECT_FALSE(watch->exchange.ended);
  server.frontend().begin_shutdown();
  EXPECT_EQ(watch->trailer("grpc-status"), "14");
}

TEST_F(GrpcMethodsTest, WatchOfAnUnknownServiceWaits) {
  HealthCheckRequest request;
  request.set_service("later");
  const auto watch = server.grpc("/grpc.health.v1.Health/Watch");
  watch->data(grpc_frame(request.SerializeAsString()));
  const auto messages = answers<HealthCheckResponse>(*watch);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].status(), HealthCheckResponse::SERVICE_UNKNOWN);
  watch->close(net::CloseReason::kClientReset);
  EXPECT_EQ(server.timer.pending(), 0u);
  server.timer.advance(std::chrono::seconds(1));
}

TEST_F(GrpcMethodsTest, ReflectionAnswersInBothVersions) {
  grpc::reflection::v1::ServerReflectionRequest request;
  request.set_list_services("*");
  for (const char* version : {"v1", "v1alpha"}) {
    const auto call = server.grpc(std::string("/grpc.reflection.") + version +
                                  ".ServerReflection/ServerReflectionInfo");
    call->data(grpc_frame(request.SerializeAsString()));
    call->data(grpc_frame(request.SerializeAsString()));
    call->end();
    const auto messages = answers<grpc::reflection::v1::ServerReflectionResponse>(*call);
    ASSERT_EQ(messages.size(), 2u);
    EXPECT_EQ(messages[0].list_services_response().service_size(), 4);
    EXPECT_EQ(call->trailer("grpc-status"), "0");
  }
}

}  // namespace
}  // namespace proa::frontends
