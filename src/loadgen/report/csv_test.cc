#include "loadgen/report/csv.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "loadgen/report/make_report.h"
#include "loadgen/report/testing/runs.h"

namespace proa::loadgen {
namespace {

using ::testing::StartsWith;

std::vector<std::string> lines(const RunResult& run, bool verbose = false) {
  const auto files = csv_report(make_report(run), "out/perf.csv", verbose);
  std::vector<std::string> found;
  for (const std::string_view line : split_lines(files[0].content)) found.emplace_back(line);
  return found;
}

TEST(CsvReportTest, HasPerfAnalyzersColumns) {
  EXPECT_EQ(lines(closed_loop_run())[0],
            "Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,"
            "Server Compute Input,Server Compute Infer,Server Compute Output,Client Recv,"
            "p50 latency,p90 latency,p95 latency,p99 latency");
}

TEST(CsvReportTest, RowsRiseByThroughputInWholeMicroseconds) {
  const auto rows = lines(closed_loop_run());
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_THAT(rows[1], StartsWith("1,400"));
  EXPECT_THAT(rows[2], StartsWith("4,500"));
  EXPECT_THAT(rows[3], StartsWith("2,600"));
  EXPECT_THAT(rows[2], StartsWith("4,500,81,486,4860,81,2430,81,81,80"));
}

TEST(CsvReportTest, ColumnsFollowWhatWasMeasured) {
  RunResult run = closed_loop_run();
  for (Pass& pass : run.passes) pass.server.clear();
  run.settings.percentile = 75;
  run.passes[0].shape = run.passes[1].shape = run.passes[2].shape = LoadShape::kConstantRate;
  run.models[0].signature.decoupled = true;
  EXPECT_EQ(lines(run)[0],
            "Request Rate,Inferences/Second,Response Throughput,Client Send,Client Recv,"
            "p50 latency,p75 latency,p90 latency,p95 latency,p99 latency");
}

TEST(CsvReportTest, VerboseColumnsAndCachesAndGpus) {
  RunResult run = closed_loop_run();
  run.passes[0].server[0].cache_hit = {5, 5000};
  run.passes[0].metrics = {{"nv_gpu_utilization{gpu_uuid=\"GPU-1\"}", 0.2, 0.4}};
  const auto rows = lines(run, true);
  EXPECT_EQ(rows[0],
            "Concurrency,Inferences/Second,Client Send,Network+Server Send/Recv,Server Queue,"
            "Server Compute Input,Server Compute Infer,Server Compute Output,Server Cache Hit,"
            "Server Cache Miss,Client Recv,p50 latency,p90 latency,p95 latency,p99 latency,"
            "Avg latency,request/response,response wait,Avg GPU Utilization,Avg GPU Power Usage,"
            "Max GPU Memory Usage,Total GPU Memory");
  EXPECT_NE(rows[1].find(",GPU-1:0.3;,,,"), std::string::npos) << rows[1];
}

TEST(CsvReportTest, ASearchInOpenLoopHasNoRowOfItsProbe) {
  RunResult run = closed_loop_run();
  for (std::size_t i = 1; i < run.passes.size(); ++i) {
    run.passes[i].shape = LoadShape::kConstantRate;
  }
  EXPECT_THAT(lines(run)[0], StartsWith("Request Rate,"));
  EXPECT_EQ(lines(run).size(), run.passes.size());
}

TEST(CsvReportTest, InvalidLevelsHaveNoRow) { EXPECT_EQ(lines(saturated_run()).size(), 1U); }

TEST(CsvReportTest, StepsOfAnEnsembleHaveTheirFile) {
  RunResult run = closed_loop_run();
  for (Pass& pass : run.passes) {
    pass.server.push_back(pass.server[0]);
    pass.server[1].composing = true;
    pass.server[1].model = "step";
  }
  const auto files = csv_report(make_report(run), "out/perf.csv", false);
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[1].path, "out/step_v1.perf.csv");
  EXPECT_THAT(split_lines(files[1].content)[2], StartsWith("4,500,0,243,4860,81,2430,81,0,80"));
}

TEST(CsvReportTest, NoNameOfAStepLeavesTheFolder) {
  for (const auto& [model, file] : {std::pair{"../../x", "out/%2E.%2F..%2Fx_v1.perf.csv"},
                                    std::pair{"/etc/x", "out/%2Fetc%2Fx_v1.perf.csv"},
                                    std::pair{"a b%\n", "out/a%20b%25%0A_v1.perf.csv"},
                                    std::pair{"Net-2.5", "out/Net-2.5_v1.perf.csv"}}) {
    RunResult run = closed_loop_run();
    run.passes[0].server[0].composing = true;
    run.passes[0].server[0].model = model;
    const auto files = csv_report(make_report(run), "out/perf.csv", false);
    ASSERT_EQ(files.size(), 2U);
    EXPECT_EQ(files[1].path, file);
  }
}

}  // namespace
}  // namespace proa::loadgen
