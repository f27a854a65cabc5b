#include "proto/json.h"

#include "gmock/gmock.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/base64.h"
#include "proto/grpc_service.pb.h"
#include "proto/json_text.h"
#include "proto/model_config.pb.h"
#include "proto/nearest_name.h"

namespace proa::proto {
namespace {

using google::protobuf::TextFormat;
using google::protobuf::util::MessageDifferencer;
using inference::ModelConfig;
using testing::HasSubstr;

template <class Message>
Message from_text(const std::string& text) {
  Message message;
  EXPECT_TRUE(TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

// The message of the error that `json` gives as a ModelConfig.
std::string config_error(std::string_view json) {
  ModelConfig config;
  const Status status = from_json(json, config);
  return status ? "no error" : status.error().message;
}

constexpr const char* kFullConfig = R"(
  name: "m" backend: "openvino" max_batch_size: 8
  version_policy { specific { versions: [1, 9223372036854775807] } }
  input { name: "x" data_type: TYPE_FP32 dims: [-1, 16] reshape { shape: [] } optional: true }
  output { name: "y" data_type: TYPE_STRING dims: 1 label_filename: "labels \"a\".txt" }
  dynamic_batching {
    preferred_batch_size: [2, 4]
    priority_queue_policy { key: 2 value { timeout_action: DELAY max_queue_size: 7 } }
    priority_queue_policy { key: 10 value {} }
  }
  instance_group { count: 2 kind: KIND_CPU gpus: [0, 1] }
  parameters { key: "b" value { string_value: "2" } }
  parameters { key: "a" value { string_value: "1" } }
  model_warmup { name: "w" inputs { key: "x" value { zero_data: true dims: [1] } } }
  model_metrics { metric_control { histogram_options { buckets: [0.1, 1e300, -inf] } } }
)";

TEST(JsonWriterTest, PrintsWhatTritonPrintsForAConfig) {
  const auto config = from_text<ModelConfig>(R"(
    name: "cppid" backend: "cppid" version_policy { latest { num_versions: 1 } } max_batch_size: 8
    input { name: "INPUT0" data_type: TYPE_FP32 dims: 16 }
    output { name: "OUTPUT0" data_type: TYPE_FP32 dims: 16 }
    optimization { input_pinned_memory { enable: true } output_pinned_memory { enable: true } }
    instance_group { name: "cppid_0" kind: KIND_CPU count: 1 })");
  EXPECT_EQ(to_json(config),
            R"({"name":"cppid","platform":"","backend":"cppid","runtime":"",)"
            R"("version_policy":{"latest":{"num_versions":1}},"max_batch_size":8,)"
            R"("input":[{"name":"INPUT0","data_type":"TYPE_FP32","format":"FORMAT_NONE",)"
            R"("dims":[16],"is_shape_tensor":false,"allow_ragged_batch":false,"optional":false,)"
            R"("is_non_linear_format_io":false}],"output":[{"name":"OUTPUT0",)"
            R"("data_type":"TYPE_FP32","dims":[16],"label_filename":"","is_shape_tensor":false,)"
            R"("is_non_linear_format_io":false}],"batch_input":[],"batch_output":[],)"
            R"("optimization":{"priority":"PRIORITY_DEFAULT","input_pinned_memory":)"
            R"({"enable":true},"output_pinned_memory":{"enable":true},)"
            R"("gather_kernel_buffer_threshold":0,"eager_batching":false},)"
            R"("instance_group":[{"name":"cppid_0","kind":"KIND_CPU","count":1,"gpus":[],)"
            R"("secondary_devices":[],"profile":[],"passive":false,"host_policy":""}],)"
            R"("default_model_filename":"","cc_model_filenames":{},"metric_tags":{},)"
            R"("parameters":{},"model_warmup":[]})");
}

TEST(JsonWriterTest, SortsMapKeysByTextOrNumber) {
  const std::string json = to_json(from_text<ModelConfig>(kFullConfig));
  EXPECT_THAT(json, HasSubstr(R"("parameters":{"a":{"string_value":"1"},"b":{)"));
  EXPECT_THAT(json, HasSubstr(R"("priority_queue_policy":{"2":{"timeout_action":"DELAY")"));
  EXPECT_THAT(json, HasSubstr(R"("buckets":[0.1,1e+300,"-Infinity"])"));
}

TEST(JsonReaderTest, ReadsBackWhatTheWriterPrints) {
  const auto config = from_text<ModelConfig>(kFullConfig);
  ModelConfig read;
  const Status status = from_json(to_json(config), read);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_TRUE(MessageDifferencer::Equals(config, read)) << read.DebugString();
}

TEST(JsonReaderTest, ReadsBytesAndEveryParameterChoice) {
  inference::RepositoryModelLoadRequest request;
  const Status status = from_json(R"({"model_name":"m","parameters":{
      "file:1/a":{"bytes_param":"AP8="},"i":{"int64_param":"-9223372036854775808"},
      "b":{"bool_param":true},"s":{"string_param":"\u00e9\n"}}})",
                                  request);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(request.parameters().at("file:1/a").bytes_param(), std::string("\0\xff", 2));
  EXPECT_EQ(request.parameters().at("i").int64_param(), INT64_MIN);
  EXPECT_EQ(request.parameters().at("s").string_param(), "\xc3\xa9\n");
  inference::RepositoryModelLoadRequest again;
  ASSERT_TRUE(from_json(to_json(request), again));
  EXPECT_TRUE(MessageDifferencer::Equals(request, again));
}

TEST(JsonReaderTest, TakesWhatProto3JsonAllows) {
  ModelConfig config;
  const Status status = from_json(
      R"({"maxBatchSize":"8","platform":null,"input":[{"data_type":11,"dims":[1.0,"2",3e0]}],
          "sequence_batching":{"direct":{"minimum_slot_utilization":"NaN"}}})",
      config);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(config.max_batch_size(), 8);
  EXPECT_EQ(config.input(0).data_type(), inference::TYPE_FP32);
  EXPECT_THAT(config.input(0).dims(), testing::ElementsAre(1, 2, 3));
  EXPECT_TRUE(std::isnan(config.sequence_batching().direct().minimum_slot_utilization()));
}

struct BadCase {
  const char* json;
  const char* message;
};

class JsonReaderErrorTest : public testing::TestWithParam<BadCase> {};

TEST_P(JsonReaderErrorTest, NamesThePlaceAndTheProblem) {
  EXPECT_EQ(config_error(GetParam().json), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, JsonReaderErrorTest,
    testing::Values(
        BadCase{"{\n  \"max_batchsize\": 8}",
                "line 2, column 3: ModelConfig has no field 'max_batchsize'; did you mean "
                "'max_batch_size'?"},
        BadCase{R"({"zzz":1})", "line 1, column 2: ModelConfig has no field 'zzz'"},
        BadCase{R"({"input":[{},{"dims":[1,"a"]}]})",
                "line 1, column 25: input[1].dims[1]: wanted a 64-bit integer, got \"a\""},
        BadCase{R"({"input":[{},{"dims":[1,01]}]})",
                "line 1, column 25: input[1].dims[1]: wanted a 64-bit integer, got 01"},
        BadCase{R"({"input":{}})", "line 1, column 10: input: wanted an array, got an object"},
        BadCase{R"({"name":5})", "line 1, column 9: name: wanted a string, got 5"},
        BadCase{R"({"max_batch_size":2147483648})",
                "line 1, column 19: max_batch_size: wanted a 32-bit integer, got 2147483648"},
        BadCase{R"({"max_batch_size":1.5})",
                "line 1, column 19: max_batch_size: wanted a 32-bit integer, got 1.5"},
        BadCase{R"({"max_batch_size":[]})",
                "line 1, column 19: max_batch_size: wanted a 32-bit integer, got an array"},
        BadCase{R"({"version_policy":{"latest":{"num_versions":-1}}})",
                "line 1, column 45: version_policy.latest.num_versions: wanted a 32-bit integer, "
                "not negative, got -1"},
        BadCase{R"({"response_cache":{"enable":"true"}})",
                "line 1, column 29: response_cache.enable: wanted true or false, got \"true\""},
        BadCase{R"({"input":[{"format":"FORMAT_X"}]})",
                "line 1, column 21: input[0].format: 'FORMAT_X' is not one of FORMAT_NONE, "
                "FORMAT_NHWC, FORMAT_NCHW"},
        BadCase{R"({"name":"a","name":"b"})", "line 1, column 13: name: set twice"},
        BadCase{R"({"metric_tags":{"a":"1","a":"2"}})",
                "line 1, column 25: metric_tags[a]: set twice"},
        BadCase{R"({"dynamic_batching":{},"sequence_batching":{}})",
                "line 1, column 24: sequence_batching: only one field of 'scheduling_choice' may "
                "be set, and 'dynamic_batching' is already"},
        BadCase{R"({"dynamic_batching":{"priority_queue_policy":{"x":{}}}})",
                "line 1, column 47: dynamic_batching.priority_queue_policy[x]: wanted a 64-bit "
                "integer, not negative as key"},
        BadCase{R"({"name":"a"} x)",
                "line 1, column 14: wanted the end of the text after the closing brace"},
        BadCase{R"([])", "line 1, column 1: wanted an object, got an array"}));

TEST(JsonReaderTest, TellsEverythingThatIsWrongAndEverythingThatIsStated) {
  ModelConfig config;
  const JsonReading reading = read_json(
      "{\"nam\": 1,\n \"max_batch_size\": 0, \"platform\": null,\n"
      " \"input\": [{\"dims\": [1, \"x\", [2], 3], \"data_type\": \"FP32\"}, 7],\n"
      " \"parameters\": {\"k\": {\"string_value\": \"v\"}}}",
      config);
  std::vector<std::string> problems, stated;
  for (const JsonNote& note : reading.problems) {
    problems.push_back(fmt::format("{}:{} {}: {}", note.position.line, note.position.column,
                                   note.path, note.problem.substr(0, 20)));
  }
  EXPECT_THAT(problems, testing::ElementsAre("1:2 : ModelConfig has no f",
                                             "3:25 input[0].dims[1]: wanted a 64-bit inte",
                                             "3:30 input[0].dims[2]: wanted a 64-bit inte",
                                             "3:52 input[0].data_type: 'FP32' is not one of",
                                             "3:61 input[1]: wanted an object, go"));
  for (const JsonNote& note : reading.stated) stated.push_back(note.path);
  EXPECT_THAT(stated,
              testing::ElementsAre("max_batch_size", "input", "input[0]", "input[0].dims",
                                   "input[0].dims[0]", "input[0].dims[1]", "input[0].dims[2]",
                                   "input[0].dims[3]", "input[0].data_type", "input[1]",
                                   "parameters", "parameters[k]", "parameters[k].string_value"));
  EXPECT_EQ(reading.stated[0].position.line, 2);
  EXPECT_EQ(reading.stated[0].position.column, 2);
}

TEST(JsonReaderTest, RefusesWhatIsNotJson) {
  for (const char* json :
       {"", " ", "{", "{\"name\"", "{\"name\":", "{\"name\":\"a\"", "{\"name\":\"a}",
        "{\"name\" \"a\"}", "{\"input\":[{}", "{\"name\":\"\xff\"}", "nonsense",
        "{\"name\":\"\\x\"}", "{,}", "{\"input\":[,]}"}) {
    EXPECT_THAT(config_error(json), HasSubstr("line 1, column")) << json;
  }
}

TEST(JsonReaderTest, StopsAtTheDepthLimit) {
  const auto nested = [](int levels) {
    std::string json;
    for (int i = 0; i < levels; ++i) json += R"({"list_value":{"values":[)";
    json += "{}";
    for (int i = 0; i < levels; ++i) json += "]}}";
    return json;
  };
  google::protobuf::Value value;
  EXPECT_TRUE(from_json(nested(49), value));
  const Status status = from_json(nested(60), value);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("more than 100 levels"));
}

TEST(JsonReaderTest, NeverCrashesOnACutOrChangedText) {
  const std::string json = to_json(from_text<ModelConfig>(kFullConfig));
  for (std::size_t i = 0; i < json.size(); ++i) {
    ModelConfig cut;
    EXPECT_FALSE(from_json(std::string_view(json).substr(0, i), cut)) << i;
    std::string changed = json;
    changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
    ModelConfig config;
    if (from_json(changed, config)) {
      ModelConfig again;
      EXPECT_TRUE(from_json(to_json(config), again)) << changed;
    }
  }
}

TEST(JsonTextTest, EscapesAndRepairsStrings) {
  std::string out;
  append_json_string(out, std::string("a\"\\\n\x01\x00z\xc3\xa9\xf0\x9f\x98\x80\xff\xc3", 15));
  EXPECT_EQ(out, "\"a\\\"\\\\\\n\\u0001\\u0000z\xc3\xa9\xf0\x9f\x98\x80\\ufffd\\ufffd\"");
}

TEST(JsonTextTest, KnowsValidUtf8) {
  EXPECT_EQ(valid_utf8_prefix("ab"), 2U);
  EXPECT_EQ(valid_utf8_prefix("a\xed\xa0\x80"), 1U);     // surrogate
  EXPECT_EQ(valid_utf8_prefix("\xc0\x80"), 0U);          // overlong
  EXPECT_EQ(valid_utf8_prefix("\xf4\x90\x80\x80"), 0U);  // beyond U+10FFFF
  EXPECT_EQ(valid_utf8_prefix("\xf4\x8f\xbf\xbf"
                              "b"),
            5U);
}

TEST(JsonTextTest, KnowsTheGrammarOfNumbers) {
  for (const char* good : {"0", "-0", "10", "1.5", "-1e5", "0.1E-7", "1e+2"}) {
    EXPECT_TRUE(is_json_number(good)) << good;
  }
  for (const char* bad : {"", "-", "+1", "01", ".5", "1.", "1e", "1e+", "NaN", "0x1", "1 "}) {
    EXPECT_FALSE(is_json_number(bad)) << bad;
  }
}

TEST(Base64Test, RoundTripsEveryLength) {
  std::string bytes;
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    bytes += static_cast<char>(i * 37);
  }
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(from_base64("Zg"), "f");
  EXPECT_EQ(from_base64("-_-_"), from_base64("+/+/"));
  EXPECT_FALSE(from_base64("Z"));
  EXPECT_FALSE(from_base64("Zg=a"));
  EXPECT_FALSE(from_base64("Zm 9"));
}

TEST(NearestNameTest, FindsASlipOfThePenOnly) {
  const std::vector<std::string_view> known = {"dims", "data_type", "name"};
  EXPECT_EQ(nearest_name("dim", known), "dims");
  EXPECT_EQ(nearest_name("datatype", known), "data_type");
  EXPECT_EQ(nearest_name("shape", known), "");
  EXPECT_EQ(nearest_name(std::string(1000, 'd'), known), "");
}

}  // namespace
}  // namespace proa::proto
