#include "config/proto_writer.h"

#include "config/complete.h"
#include "config/parse.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/json.h"
#include "proto/model_config.pb.h"

namespace proa::config {
namespace {

using testing::HasSubstr;

ParsedConfig completed(std::string_view text) {
  Result<ParsedConfig> parsed = parse_config(text, "config.pbtxt");
  EXPECT_TRUE(parsed) << parsed.error().message;
  const std::vector<std::string> files = {"model.onnx"};
  EXPECT_TRUE(complete_from_folder("m", files, {}, *parsed));
  const Status status = complete_rest({}, *parsed);
  EXPECT_TRUE(status) << status.error().message;
  return *std::move(parsed);
}

constexpr std::string_view kText = R"(
  max_batch_size: 8
  input { name: "x" data_type: TYPE_FP32 dims: [ 3, -1 ] optional: true }
  output { name: "y" data_type: TYPE_STRING dims: 4 label_filename: "l.txt" }
  dynamic_batching { preferred_batch_size: [ 4, 2 ] max_queue_delay_microseconds: 9000000000
    priority_levels: 2 default_priority_level: 1
    priority_queue_policy { key: 2 value { timeout_action: DELAY default_timeout_microseconds: 5 } } }
  parameters { key: "k" value { string_value: "v \"quoted\"" } }
  metric_tags { key: "a" value: "b" }
)";

TEST(ToProtoTest, SurvivesTheWayThroughJson) {
  const inference::ModelConfig message = to_proto(completed(kText).config);
  inference::ModelConfig read;
  ASSERT_TRUE(proto::from_json(proto::to_json(message), read));
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(message, read));
  const Result<ParsedConfig> again = parse_config_json(proto::to_json(message), "json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(again->config), to_text(completed(kText).config));
}

TEST(ToProtoTest, ShowsWhatWasCompleted) {
  const std::string json = proto::to_json(to_proto(completed(kText).config));
  EXPECT_THAT(json, HasSubstr(R"("name":"m")"));
  EXPECT_THAT(json, HasSubstr(R"("backend":"openvino")"));
  EXPECT_THAT(json, HasSubstr(R"("default_model_filename":"model.onnx")"));
  EXPECT_THAT(json, HasSubstr(R"("version_policy":{"latest":{"num_versions":1}})"));
  EXPECT_THAT(json, HasSubstr(R"("name":"m","kind":"KIND_CPU","count":1)"));
  EXPECT_THAT(json, HasSubstr(R"("preferred_batch_size":[2,4])"));
  EXPECT_THAT(json, HasSubstr(R"("max_queue_delay_microseconds":9000000000)"));
}

TEST(ToTextTest, StatesAStepsVersionOfZero) {
  const ParsedConfig parsed = completed(
      "platform: 'ensemble' input { name: 'x' data_type: TYPE_FP32 dims: 1 } "
      "output { name: 'y' data_type: TYPE_FP32 dims: 1 } ensemble_scheduling { step [ "
      "{ model_name: 'a' model_version: 0 input_map { key: 'x' value: 'x' } "
      "output_map { key: 'y' value: 'm' } }, { model_name: 'b' model_version: 2 "
      "input_map { key: 'x' value: 'm' } output_map { key: 'y' value: 'y' } } ] }");
  const std::string text = to_text(parsed.config);
  EXPECT_THAT(text, HasSubstr("model_version: 0"));
  EXPECT_THAT(text, HasSubstr("model_version: 2"));
  EXPECT_EQ(parse_config(text, "again")->config.ensemble->steps[0].version, 0);
}

TEST(ToTextTest, StatesABatchSizeOfZero) {
  const ParsedConfig parsed = completed(
      "max_batch_size: 0 input { name: 'x' data_type: TYPE_FP32 dims: 1 } "
      "output { name: 'y' data_type: TYPE_FP32 dims: 1 }");
  EXPECT_TRUE(parse_config(to_text(parsed.config), "again")->given.contains("max_batch_size"));
}

}  // namespace
}  // namespace proa::config
