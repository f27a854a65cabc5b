#include "loadgen/report/make_report.h"

#include <gmock/gmock.h>

#include "loadgen/report/compare.h"
#include "loadgen/report/profile_export.h"
#include "loadgen/report/stages.h"
#include "loadgen/report/testing/runs.h"
#include "proto/json.h"

namespace proa::loadgen {
namespace {

using ::testing::HasSubstr;

bool has_note(const bench::BenchReport& report, std::string_view severity, std::string_view text) {
  for (const bench::Note& note : report.notes()) {
    if (note.severity() == severity && note.text().find(text) != std::string::npos) return true;
  }
  return false;
}

TEST(MakeReportTest, FiguresComeFromTheUsedWindows) {
  const bench::BenchReport report = make_report(closed_loop_run());
  ASSERT_EQ(report.levels_size(), 3);
  const bench::Level& level = report.levels(0);
  EXPECT_EQ(level.shape(), "concurrency");
  EXPECT_NEAR(level.requests_per_second(), 400, 1);
  EXPECT_NEAR(level.latency().p50_us(), 2500, 50);
  EXPECT_EQ(level.latency().count(), level.counts().completed());
  EXPECT_EQ(level.windows_size(), 4);
  EXPECT_FALSE(level.windows(0).used());
  EXPECT_EQ(report.started(), "2026-11-30T00:53:20Z");
}

TEST(MakeReportTest, TheDistributionRisesToOne) {
  const bench::BenchReport report = make_report(closed_loop_run());
  const auto& cdf = report.levels(2).latency().cdf();
  ASSERT_GT(cdf.size(), 10);
  for (int i = 1; i < cdf.size(); ++i) {
    EXPECT_GT(cdf[i].us(), cdf[i - 1].us());
    EXPECT_GT(cdf[i].share(), cdf[i - 1].share());
  }
  EXPECT_EQ(cdf[cdf.size() - 1].share(), 1);
  EXPECT_EQ(cdf[cdf.size() - 1].us(), report.levels(2).latency().max_us());
}

TEST(MakeReportTest, StagesAddUpToTheMean) {
  const bench::Stages stages = make_report(closed_loop_run()).levels(2).stages();
  EXPECT_TRUE(stages.has_server());
  EXPECT_NEAR(stages.queue_us(), 8100 * 0.6, 5);
  EXPECT_NEAR(stages.server_overhead_us(), 8100 * 0.03, 5);
  EXPECT_NEAR(stages.due_to_sent_us() + stages.queue_us() + stages.compute_input_us() +
                  stages.compute_infer_us() + stages.compute_output_us() +
                  stages.server_overhead_us() + stages.network_and_client_us(),
              stages.total_us(), 1);
}

TEST(MakeReportTest, AnEnsemblesPartsAreThoseOfItsSteps) {
  Pass pass = closed_loop_run().passes[0];
  ServerModelStatistics step = pass.server[0];
  step.composing = true;
  pass.server[0].queue = pass.server[0].compute_input = pass.server[0].compute_infer =
      pass.server[0].compute_output = StageTime{};
  pass.server.push_back(step);
  EXPECT_NEAR(make_stages(pass).queue_us(), 2500 * 0.6, 5);
}

TEST(MakeReportTest, WithoutServerStatisticsOnlyTheClientsParts) {
  RunResult run = closed_loop_run();
  for (Pass& pass : run.passes) pass.server.clear();
  const bench::Stages stages = make_report(run).levels(0).stages();
  EXPECT_FALSE(stages.has_server());
  EXPECT_NEAR(stages.client_wait_us(), 2500 * 0.98, 5);
}

TEST(MakeReportTest, NotesSayWhatNotToTrust) {
  EXPECT_TRUE(has_note(make_report(saturated_run()), "invalid", "busy 99 %"));
  EXPECT_FALSE(has_note(make_report(saturated_run()), "info", "closed loop"));

  RunResult run = closed_loop_run();
  EXPECT_TRUE(has_note(make_report(run), "info", "closed loop"));
  EXPECT_TRUE(has_note(make_report(run), "info", "16 distinct payloads"));
  EXPECT_FALSE(has_note(make_report(run), "warning", ""));

  run.passes[0].stability = {false, 0.2, 0.5, Instability::kDrift, "latency rises all the time"};
  run.passes[1].errors = {{"HTTP 503", 7, "queue is full"}};
  run.warnings = {"the server restarted"};
  const bench::BenchReport report = make_report(run);
  EXPECT_TRUE(has_note(report, "warning",
                       "by 20 %, latency by 50 % from window to window): latency rises"));
  EXPECT_TRUE(has_note(report, "warning", "7 failed requests (HTTP 503)"));
  EXPECT_TRUE(has_note(report, "warning", "the server restarted"));
}

TEST(MakeReportTest, AClosedLoopSaysThatItMissesAStall) {
  RunResult run = closed_loop_run();
  run.passes[0].latencies.from_due.record(std::chrono::milliseconds(503));
  const bench::BenchReport report = make_report(run);
  // 400/s for half a second.
  EXPECT_TRUE(has_note(report, "warning", "one answer took 503.0 ms"));
  EXPECT_TRUE(has_note(report, "warning", "about 201 requests meanwhile"));
  run.passes[0].shape = LoadShape::kConstantRate;
  EXPECT_FALSE(has_note(make_report(run), "warning", "one answer took"));
}

TEST(MakeReportTest, JsonReadsBackAsItWas) {
  const bench::BenchReport report = make_report(closed_loop_run());
  const std::string json = proto::to_json(report);
  const auto again = read_report(json);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(proto::to_json(*again), json);
  EXPECT_THAT(json, HasSubstr("\"schema_version\":1"));

  bench::BenchReport future = report;
  future.set_schema_version(2);
  EXPECT_FALSE(read_report(proto::to_json(future)));
  EXPECT_FALSE(read_report("{\"schema_version\": 1, \"nonsense\": 2}"));
}

TEST(MakeReportTest, ProfileExportHoldsEveryRequestThatSucceeded) {
  RunResult run = saturated_run();
  run.passes[0].started_unix_ns = 1'796'000'000'000'000'000;
  run.passes[0].requests = {
      {.due = Duration(500), .sent = Duration(1000), .done = Duration(3000)},
      {.due = Duration(2000), .sent = Duration(2000), .done = Duration(4000), .failed = true}};
  const std::string json = profile_export(run);
  EXPECT_THAT(json, HasSubstr("{\"mode\":\"request_rate\",\"value\":1000}"));
  EXPECT_THAT(json, HasSubstr("\"requests\":[{\"timestamp\":1796000000000001000,"
                              "\"due\":1796000000000000500,"
                              "\"response_timestamps\":[1796000000000003000]}]"));
  EXPECT_THAT(json, HasSubstr("\"window_boundaries\":[1796000000000000000,1796000001000000000,"));
}

}  // namespace
}  // namespace proa::loadgen
