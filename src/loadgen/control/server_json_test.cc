#include "loadgen/control/server_json.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::loadgen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kMetadata = R"({"name":"m","versions":["1"],"platform":"x",
  "inputs":[{"name":"a","datatype":"FP32","shape":[-1,16]},
            {"name":"b","datatype":"BYTES","shape":[-1,"-1"]}],
  "outputs":[{"name":"o","datatype":"INT64","shape":[-1]}]})";

TEST(ServerJsonTest, LeavesTheBatchDimensionOut) {
  const auto signature = read_model_signature(kMetadata, R"({"max_batch_size":8,
      "input":[{"name":"b","optional":true}],"sequence_batching":{},
      "model_transaction_policy":{"decoupled":true},"unknown":[1]})");
  ASSERT_TRUE(signature) << signature.error().message;
  EXPECT_EQ(signature->max_batch_size, 8);
  EXPECT_TRUE(signature->sequences);
  EXPECT_TRUE(signature->decoupled);
  ASSERT_EQ(signature->inputs.size(), 2U);
  EXPECT_EQ(signature->inputs[0].shape, (Shape{16}));
  EXPECT_FALSE(signature->inputs[0].optional);
  EXPECT_EQ(signature->inputs[1].type, DataType::kBytes);
  EXPECT_EQ(signature->inputs[1].shape, (Shape{Shape::kAny}));
  EXPECT_TRUE(signature->inputs[1].optional);
  EXPECT_EQ(signature->outputs[0].shape, Shape());
}

TEST(ServerJsonTest, DoesWithoutAConfiguration) {
  const auto signature = read_model_signature(kMetadata, "");
  ASSERT_TRUE(signature);
  EXPECT_FALSE(signature->batches());
  EXPECT_FALSE(signature->sequences);
  EXPECT_EQ(signature->inputs[0].shape, (Shape{Shape::kAny, 16}));
}

TEST(ServerJsonTest, RefusesWhatIsNoMetadata) {
  EXPECT_FALSE(read_model_signature("[]", ""));
  EXPECT_FALSE(read_model_signature("<html>", ""));
  EXPECT_THAT(read_model_signature(R"({"inputs":[{"name":"x","datatype":"FP33","shape":[1]}]})", "")
                  .error()
                  .message,
              HasSubstr("'x' has the unknown datatype FP33"));
}

TEST(ServerJsonTest, FindsTheStepsOfAnEnsemble) {
  EXPECT_THAT(read_composing_models(R"({"ensemble_scheduling":{"step":[
      {"model_name":"a"},{"model_name":"b"},{"model_name":"a"}]}})"),
              ElementsAre("a", "b"));
  EXPECT_TRUE(read_composing_models(R"({"name":"plain"})").empty());
}

TEST(ServerJsonTest, ReadsStatistics) {
  const auto models = read_statistics(R"({"model_stats":[{"name":"m","version":"3",
      "inference_count":10,"execution_count":"4","inference_stats":{
        "success":{"count":10,"ns":1000},"queue":{"count":10,"ns":250}},
      "batch_stats":[{"batch_size":4,"compute_infer":{"count":1,"ns":7}},
                     {"batch_size":2,"compute_infer":{"count":3,"ns":9}}]}]})");
  ASSERT_TRUE(models) << models.error().message;
  ASSERT_EQ(models->size(), 1U);
  const ServerModelStatistics& model = (*models)[0];
  EXPECT_EQ(model.version, "3");
  EXPECT_EQ(model.execution_count, 4U);
  EXPECT_DOUBLE_EQ(model.queue.mean_us(), 0.025);
  EXPECT_EQ(model.cache_hit.count, 0U);
  ASSERT_EQ(model.batch_sizes.size(), 2U);
  EXPECT_EQ(model.batch_sizes[0].size, 2U);
  EXPECT_EQ(model.batch_sizes[0].executions, 3U);
  EXPECT_FALSE(read_statistics("no"));
}

TEST(ServerJsonTest, ReadsMetrics) {
  const auto metrics = read_metrics(
      "# HELP nv_x y\nnv_inference_count{model=\"a b\",version=\"1\"} 12\n"
      "nv_time_us_bucket{le=\"1\"} 3\nnv_time_us_sum 7.5\nprocess_x 1\nnv_bad x\n");
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_EQ(metrics[0].name, R"(nv_inference_count{model="a b",version="1"})");
  EXPECT_EQ(metrics[0].after, 12);
  EXPECT_EQ(metrics[1].after, 7.5);
}

}  // namespace
}  // namespace proa::loadgen
