#include "frontends/grpc/reflection.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "gtest/gtest.h"

namespace proa::frontends {
namespace {

using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;

std::set<std::string> file_names(const ServerReflectionResponse& response) {
  std::set<std::string> names;
  for (const std::string& bytes : response.file_descriptor_response().file_descriptor_proto()) {
    google::protobuf::FileDescriptorProto file;
    EXPECT_TRUE(file.ParseFromString(bytes));
    names.insert(file.name());
  }
  return names;
}

TEST(ReflectionTest, ListsTheServices) {
  ServerReflectionRequest request;
  request.set_list_services("");
  std::set<std::string> names;
  const auto response = reflect(request);
  for (const auto& service : response.list_services_response().service()) {
    names.insert(service.name());
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("inference.GRPCInferenceService",
                                                     "grpc.health.v1.Health",
                                                     "grpc.reflection.v1.ServerReflection",
                                                     "grpc.reflection.v1alpha.ServerReflection"));
}

TEST(ReflectionTest, EveryListedServiceIsDescribed) {
  ServerReflectionRequest list;
  list.set_list_services("");
  const auto services = reflect(list);
  for (const auto& service : services.list_services_response().service()) {
    ServerReflectionRequest request;
    request.set_file_containing_symbol(service.name());
    EXPECT_FALSE(file_names(reflect(request)).empty()) << service.name();
  }
}

TEST(ReflectionTest, SendsAFileWithWhatItImports) {
  ServerReflectionRequest request;
  request.set_host("h");
  request.set_file_containing_symbol("inference.GRPCInferenceService.ModelInfer");
  const auto response = reflect(request);
  EXPECT_THAT(file_names(response), ::testing::UnorderedElementsAre("proto/grpc_service.proto",
                                                                    "proto/model_config.proto"));
  EXPECT_EQ(response.valid_host(), "h");
  EXPECT_EQ(response.original_request().file_containing_symbol(), request.file_containing_symbol());
  ServerReflectionRequest by_name;
  by_name.set_file_by_filename("proto/health.proto");
  EXPECT_THAT(file_names(reflect(by_name)), ::testing::ElementsAre("proto/health.proto"));
}

TEST(ReflectionTest, SaysWhatIsNotThere) {
  ServerReflectionRequest request;
  request.set_file_containing_symbol("no.such.Service");
  EXPECT_EQ(reflect(request).error_response().error_code(), 5);
  request.set_file_by_filename("no.proto");
  EXPECT_EQ(reflect(request).error_response().error_code(), 5);
  request.mutable_file_containing_extension()->set_containing_type("inference.ModelConfig");
  EXPECT_EQ(reflect(request).error_response().error_code(), 5);
  request.set_all_extension_numbers_of_type("no.Type");
  EXPECT_EQ(reflect(request).error_response().error_code(), 5);
  request.set_all_extension_numbers_of_type("inference.ModelConfig");
  EXPECT_EQ(reflect(request).all_extension_numbers_response().base_type_name(),
            "inference.ModelConfig");
  EXPECT_EQ(reflect({}).error_response().error_code(), 3);
}

}  // namespace
}  // namespace proa::frontends
