#include <fstream>
#include <set>
#include <string>

#include "base/testing/source_path.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/grpc_service.pb.h"
#include "proto/health.pb.h"
#include "proto/model_config.pb.h"
#include "proto/reflection_v1.pb.h"
#include "proto/reflection_v1alpha.pb.h"

namespace proa::proto {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;

using Rows = std::set<std::string>;

std::string without_package(const std::string& full_name) {
  return full_name.substr(std::string("inference.").size());
}

void add_enum(const EnumDescriptor& type, Rows& rows) {
  for (int i = 0; i < type.value_count(); ++i) {
    rows.insert(fmt::format("{}\t{}\t{}\tenum\tvalue", without_package(type.full_name()),
                            type.value(i)->name(), type.value(i)->number()));
  }
}

std::string field_row(const FieldDescriptor& field) {
  std::string type = field.type_name();
  if (field.message_type() != nullptr) type += ' ' + field.message_type()->full_name();
  if (field.enum_type() != nullptr) type += ' ' + field.enum_type()->full_name();
  std::string label = field.is_repeated() ? "repeated" : "optional";
  if (const auto* oneof = field.containing_oneof()) label += " oneof:" + oneof->name();
  return fmt::format("{}\t{}\t{}\t{}\t{}", without_package(field.containing_type()->full_name()),
                     field.name(), field.number(), type, label);
}

void add_message(const Descriptor& message, Rows& rows) {
  if (message.field_count() == 0) {
    rows.insert(without_package(message.full_name()) + "\t-\t0\t-\t-");
  }
  for (int i = 0; i < message.field_count(); ++i) rows.insert(field_row(*message.field(i)));
  for (int i = 0; i < message.enum_type_count(); ++i) add_enum(*message.enum_type(i), rows);
  for (int i = 0; i < message.nested_type_count(); ++i) add_message(*message.nested_type(i), rows);
}

void add_file(const FileDescriptor& file, Rows& rows) {
  for (int i = 0; i < file.enum_type_count(); ++i) add_enum(*file.enum_type(i), rows);
  for (int i = 0; i < file.message_type_count(); ++i) add_message(*file.message_type(i), rows);
  for (int i = 0; i < file.service_count(); ++i) {
    for (int j = 0; j < file.service(i)->method_count(); ++j) {
      const auto& method = *file.service(i)->method(j);
      rows.insert(fmt::format("{}\t{}\t0\t{} {}\trpc{}{}", file.service(i)->name(), method.name(),
                              method.input_type()->full_name(), method.output_type()->full_name(),
                              method.client_streaming() ? " client-stream" : "",
                              method.server_streaming() ? " server-stream" : ""));
    }
  }
}

Rows recorded_rows() {
  std::ifstream file(source_path("src/proto/testing/triton_fields.tsv"));
  Rows rows;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with('#')) rows.insert(line);
  }
  return rows;
}

TEST(DescriptorsTest, EveryFieldHasTheNumberAndTypeThatTritonClientsUse) {
  Rows ours;
  add_file(*inference::ModelConfig::descriptor()->file(), ours);
  add_file(*inference::ModelInferRequest::descriptor()->file(), ours);
  const Rows recorded = recorded_rows();
  ASSERT_GT(recorded.size(), 400U);
  EXPECT_THAT(ours, testing::ContainerEq(recorded));
}

TEST(DescriptorsTest, ServicesHaveTheNamesOfTheirPaths) {
  EXPECT_EQ(inference::ModelInferRequest::descriptor()->file()->service(0)->full_name(),
            "inference.GRPCInferenceService");
  EXPECT_EQ(grpc::health::v1::HealthCheckRequest::descriptor()->file()->service(0)->full_name(),
            "grpc.health.v1.Health");
  EXPECT_EQ(grpc::reflection::v1::ErrorResponse::descriptor()->file()->service(0)->full_name(),
            "grpc.reflection.v1.ServerReflection");
  EXPECT_EQ(grpc::reflection::v1alpha::ErrorResponse::descriptor()->file()->service(0)->full_name(),
            "grpc.reflection.v1alpha.ServerReflection");
}

}  // namespace
}  // namespace proa::proto
