#include "observe/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  Metrics metrics_;
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

TEST_F(MetricsTest, ProcessFiguresAreReal) {
  const std::string text = render();
  for (const char* name : {"process_resident_memory_bytes", "process_open_fds", "process_threads",
                           "process_start_time_seconds", "nv_cpu_memory_total_bytes"}) {
    EXPECT_THAT(text, HasSubstr(std::string(name) + " "));
    EXPECT_THAT(text, Not(HasSubstr(std::string(name) + " 0\n")));
  }
}

}  // namespace
}  // namespace proa::observe
