#include "observe/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/manual_clock.h"
#include "base/text.h"
#include "core/testing/model_runtime.h"
#include "core/testing/puppet_model.h"
#include "core/testing/recording_sink.h"
#include "core/testing/requests.h"

namespace proa::observe {
namespace {

using core::Answers;
using testing::HasSubstr;
using testing::Not;

class MetricsTest : public testing::Test {
 protected:
  void infer(std::string id, std::int64_t batch) {
    auto request = core::float_request(id, batch, 2, 1);
    request->model = model_;
    request->sink = answers_.sink(std::move(id));
    model_->infer(std::move(request));
  }

  static config::ModelConfig tagged_config() {
    config::ModelConfig config = core::float_config(8);
    config.metric_tags = {{"team", "vision \"a\""}};
    return config;
  }

  core::Model::Options options() {
    core::Model::Options options = runtime_.options();
    options.load_began = steady_clock().now() - std::chrono::hours(1);
    return options;
  }

  std::string render(std::vector<ServerFigure> figures = {}) {
    return metrics_.render({model_}, figures);
  }

  Answers answers_;
  core::ModelRuntime runtime_;
  std::shared_ptr<core::Model> model_ =
      core::Model::create(tagged_config(), 3,
                          std::make_unique<core::EchoModel>(core::Execution::kInline), options())
          .value();
  ManualClock clock_;
  Metrics metrics_{MetricsOptions()};
};

TEST_F(MetricsTest, CountsRequestsInferencesAndExecutions) {
  infer("a", 1);
  infer("b", 4);
  const std::string labels =
      "{model=\"" + model_->name() + "\",version=\"3\",_team=\"vision \\\"a\\\"\"}";
  const std::string text = render();
  EXPECT_THAT(text, HasSubstr("nv_inference_request_success" + labels + " 2\n"));
  EXPECT_THAT(text, HasSubstr("nv_inference_count" + labels + " 5\n"));
  EXPECT_THAT(text, HasSubstr("nv_inference_exec_count" + labels + " 2\n"));
  EXPECT_THAT(text, HasSubstr("nv_model_load_duration_secs" + labels + " 3600."));
  EXPECT_THAT(text, HasSubstr("# TYPE nv_inference_request_success counter\n"));
}

TEST_F(MetricsTest, BatchSizesAreAHistogram) {
  infer("a", 1);
  infer("b", 3);
  infer("c", 8);
  const std::string text = render();
  EXPECT_THAT(text, HasSubstr("_team=\"vision \\\"a\\\"\",le=\"1\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("_team=\"vision \\\"a\\\"\",le=\"4\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("_team=\"vision \\\"a\\\"\",le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("proa_batch_size_sum{"));
}

TEST_F(MetricsTest, EveryFailureReasonHasALine) {
  const std::string text = render();
  for (const char* reason : {"REJECTED", "CANCELED", "BACKEND", "OTHER"}) {
    EXPECT_THAT(text, HasSubstr("reason=\"" + std::string(reason) + "\"} 0\n"));
  }
}

TEST_F(MetricsTest, ServerFiguresOfOneNameShareAFamily) {
  const auto kind = ServerFigure::Kind::kCounter;
  const std::string text = render({{"bytes_total", "Bytes", kind, {{"direction", "in"}}, 5},
                                   {"open", "Open", ServerFigure::Kind::kGauge, {}, 7},
                                   {"bytes_total", "Bytes", kind, {{"direction", "out"}}, 6}});
  EXPECT_THAT(text, HasSubstr("# TYPE bytes_total counter\nbytes_total{direction=\"in\"} 5\n"
                              "bytes_total{direction=\"out\"} 6\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE open gauge\nopen 7\n"));
}

// The lines of a family, without its comments.
std::string lines_of(const std::string& text, const std::string& name) {
  std::string lines;
  for (const std::string_view line : split_lines(text)) {
    if (line.starts_with(name)) lines += std::string(line) + "\n";
  }
  return lines;
}

TEST_F(MetricsTest, SummariesAreOffUnlessAskedFor) {
  infer("a", 1);
  EXPECT_THAT(render(), Not(HasSubstr("summary")));
  Metrics metrics({.summary_latencies = true, .summary_quantiles = {0.5, 0.99}}, clock_);
  const std::string text = metrics.render({model_}, {});
  for (const char* part :
       {"request", "queue", "compute_input", "compute_infer", "compute_output"}) {
    const std::string name = "nv_inference_" + std::string(part) + "_summary_us";
    EXPECT_THAT(text, HasSubstr("# TYPE " + name + " summary\n"));
    const std::string lines = lines_of(text, name);
    EXPECT_THAT(lines, HasSubstr("_count{model="));
    EXPECT_THAT(lines, HasSubstr("quantile=\"0.5\"} "));
    EXPECT_THAT(lines, HasSubstr("quantile=\"0.99\"} "));
    EXPECT_THAT(lines, Not(HasSubstr("Nan")));
  }
}

TEST_F(MetricsTest, QuantilesForgetAfterAMinute) {
  Metrics metrics({.summary_latencies = true}, clock_);
  infer("a", 1);
  metrics.render({model_}, {});
  clock_.advance(std::chrono::minutes(2));
  metrics.render({model_}, {});
  clock_.advance(std::chrono::minutes(2));
  const std::string text = metrics.render({model_}, {});
  EXPECT_THAT(lines_of(text, "nv_inference_request_summary_us{"), HasSubstr("Nan"));
  EXPECT_THAT(lines_of(text, "nv_inference_request_summary_us_count"), HasSubstr(" 1\n"));
}

TEST_F(MetricsTest, LatencyCountersCanBeLeftOut) {
  Metrics metrics({.cpu = false, .counter_latencies = false});
  const std::string text = metrics.render({model_}, {});
  EXPECT_THAT(text, Not(HasSubstr("_duration_us")));
  EXPECT_THAT(text, Not(HasSubstr("nv_cpu_")));
  EXPECT_THAT(text, HasSubstr("nv_inference_request_success{"));
}

TEST_F(MetricsTest, EveryFamilyWhoseBucketsCanBeChosenExists) {
  Metrics metrics({.histogram_latencies = true});
  const std::string text = metrics.render({model_}, {});
  for (const std::string_view name : config::kHistogramFamilies) {
    EXPECT_THAT(text, HasSubstr("# TYPE " + std::string(name) + " histogram\n"));
  }
}

TEST_F(MetricsTest, BucketsOfTheModelsConfigurationCount) {
  config::ModelConfig config = core::float_config(8);
  config.histogram_buckets = {{"proa_batch_size", {2.5, 100}}};
  model_ =
      core::Model::create(std::move(config), 1,
                          std::make_unique<core::EchoModel>(core::Execution::kInline), options())
          .value();
  infer("a", 3);
  const std::string lines = lines_of(render(), "proa_batch_size_bucket");
  EXPECT_THAT(lines, HasSubstr("le=\"2.5\"} 0\n"));
  EXPECT_THAT(lines, HasSubstr("le=\"100\"} 1\n"));
  EXPECT_THAT(lines, Not(HasSubstr("le=\"4\"")));
}

TEST_F(MetricsTest, ShowsTheMetricsOfModelsThemselves) {
  const auto custom = core::CustomMetrics::create();
  const auto owner = custom->add_owner();
  using Custom = core::CustomMetrics;
  ASSERT_TRUE(owner->change({Custom::Kind::kCounter, "words", "Seen", {{"model", "a"}}, {}},
                            Custom::Change::kIncrement, 3));
  ASSERT_TRUE(owner->change({Custom::Kind::kHistogram, "sizes", "Long", {}, {1, 10}},
                            Custom::Change::kObserve, 5));
  const std::string text = metrics_.render({}, {}, custom.get());
  EXPECT_THAT(text, HasSubstr("# HELP words Seen\n# TYPE words counter\nwords{model=\"a\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("sizes_count 1\nsizes_sum 5\nsizes_bucket{le=\"1\"} 0\n"
                              "sizes_bucket{le=\"10\"} 1\nsizes_bucket{le=\"+Inf\"} 1\n"));
}

}  // namespace
}  // namespace proa::observe
