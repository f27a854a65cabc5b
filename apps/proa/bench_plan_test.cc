#include "bench_plan.h"

#include "CLI/CLI.hpp"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa {
namespace {

using loadgen::LoadShape;
using ::testing::AllOf;
using ::testing::HasSubstr;

// What the command line makes, or why it does not.
struct Parsed {
  BenchOptions options;
  std::string error;
};

Parsed parse(std::vector<std::string> arguments) {
  Parsed parsed;
  CLI::App app;
  add_bench_command(app, parsed.options);
  arguments.insert(arguments.begin(), "bench");
  std::ranges::reverse(arguments);  // as CLI11 wants it
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    parsed.error = error.what();
  }
  return parsed;
}

loadgen::BenchPlan plan_of(const std::vector<std::string>& arguments,
                           std::string_view intervals = "") {
  const Parsed parsed = parse(arguments);
  EXPECT_EQ(parsed.error, "");
  auto plan = make_bench_plan(parsed.options, intervals);
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? *plan : loadgen::BenchPlan();
}

std::string refusal_of(const std::vector<std::string>& arguments) {
  const Parsed parsed = parse(arguments);
  if (!parsed.error.empty()) return parsed.error;
  const auto plan = make_bench_plan(parsed.options, "");
  return plan ? "taken" : plan.error().message;
}

std::vector<double> values(const loadgen::BenchPlan& plan) {
  std::vector<double> found;
  for (const auto& load : plan.loads) found.push_back(load.value);
  return found;
}

TEST(BenchPlanTest, ReadsRangesAsPerfAnalyzerDoes) {
  using Values = std::vector<double>;
  EXPECT_EQ(values(plan_of({"-m", "x"})), Values({1}));
  EXPECT_EQ(values(plan_of({"-m", "x", "--concurrency-range", "4"})), Values({4}));
  EXPECT_EQ(values(plan_of({"-m", "x", "--concurrency-range", "1:3"})), Values({1, 2, 3}));
  EXPECT_EQ(values(plan_of({"-m", "x", "--concurrency-range", "1:8:3"})), Values({1, 4, 7}));
  const auto rates = plan_of({"-m", "x", "--request-rate-range", "0.1:0.3:0.1"});
  EXPECT_EQ(rates.loads.size(), 3U);
  EXPECT_EQ(rates.loads[0].shape, LoadShape::kConstantRate);
  EXPECT_EQ(plan_of({"-m", "x", "--request-rate-range", "5", "--request-distribution", "poisson"})
                .loads[0]
                .shape,
            LoadShape::kPoissonRate);
}

TEST(BenchPlanTest, TakesEveryLoad) {
  const auto recorded = plan_of({"-m", "x", "--request-intervals", "f"}, "10\n20\n");
  EXPECT_EQ(recorded.loads[0].gaps.size(), 2U);
  EXPECT_EQ(plan_of({"-m", "x", "--stages", "1:2,3:4"}).loads[0].stages.size(), 2U);
  const auto search = plan_of({"-m", "x", "--concurrency-range", "1:64:4", "--binary-search", "-l",
                               "20", "--percentile", "95"});
  ASSERT_TRUE(search.binary_search);
  EXPECT_EQ(search.binary_search->last, 64);
  // Each request in flight has a sequence of its own, in a search too.
  EXPECT_EQ(search.pass.worker.picker.sequences, 1U);
  EXPECT_EQ(search.bound.bound, std::chrono::milliseconds(20));
  EXPECT_EQ(search.bound.percentile, 95);
  const auto most = plan_of({"-m", "x", "--find-max", "--latency-ms", "100"});
  ASSERT_TRUE(most.find_max);
  EXPECT_EQ(most.find_max->bound.percentile, 99);
}

TEST(BenchPlanTest, RefusesWhatDoesNotGoTogetherAndSaysWhy) {
  struct Case {
    std::vector<std::string> arguments;
    const char* reason;
  };
  const Case cases[] = {
      {{}, "-m NAME says which model"},
      {{"-m", "x", "--concurrency-range", "1", "--request-rate-range", "1"},
       "--concurrency-range and --request-rate-range each say what the load is"},
      {{"-m", "x", "--find-max"}, "--latency-ms"},
      {{"-m", "x", "--find-max", "-l", "1", "--concurrency-range", "4"}, "searches for a rate"},
      {{"-m", "x", "--find-max", "--binary-search", "-l", "1"}, "two ways to search"},
      {{"-m", "x", "--binary-search", "-l", "1"}, "the range to search in"},
      {{"-m", "x", "--stages", "1:1", "--request-count", "5"}, "--stages, which ends by itself"},
      {{"-m", "x", "--request-distribution", "poisson"}, "is of rates"},
      {{"-m", "x", "--streaming"}, "add -i grpc"},
      {{"-m", "x", "-i", "grpc", "--input-tensor-format", "json"}, "are of HTTP"},
      {{"-m", "x", "--engine", "y"}, "runs a model in this process"},
      {{"--engine", "y", "-i", "grpc"}, "-i is of servers"},
      {{"--engine", "y", "-H", "a:b"}, "-H is of servers"},
      {{"--engine", "y", "-x", "2"}, "-x is of servers"},
      {{"--engine", "y", "--collect-metrics"}, "--collect-metrics is of servers"},
      {{"-m", "x", "--find-max", "-l", "1", "-p", "1000"}, "-p is of loads"},
      {{"-m", "x", "--find-max", "-l", "1", "-r", "3"}, "-r is of loads"},
      {{"-m", "x", "--find-max", "-l", "1", "--measurement-mode", "count_windows"},
       "--measurement-mode is of loads"},
      {{"-m", "x", "-z", "--input-data", "random"}, "both say what to send"},
      {{"-m", "x", "--concurrency-range", "0"}, "whole numbers from 1"},
      {{"-m", "x", "--concurrency-range", "1.5"}, "whole numbers from 1"},
      {{"-m", "x", "--concurrency-range", "8:1"}, "START <= END"},
      {{"-m", "x", "--concurrency-range", "a"}, "START:END:STEP"},
      {{"-m", "x", "--request-rate-range", "1:1000000:0.001"}, "loads"},
      {{"-m", "x", "--stages", "1"}, "stage '1'"},
      {{"-m", "x", "--shared-memory", "system"}, "requests always carry their tensors"},
      {{"-m", "x", "--enable-mpi"}, "--max-threads"},
      {{"-m", "x", "--protocol", "tcp"}, "tcp"},
      {{"-m", "x", "--concurrency-range", "5000"}, "need --max-connections 5000"},
      {{"-m", "x", "--binary-search", "-l", "1", "--concurrency-range", "1:5000"},
       "need --max-connections 5000"},
      {{"-m", "x", "-i", "grpc", "--max-connections", "2", "--concurrency-range", "13"},
       "need --max-connections 3"},
      {{"-m", "x", "-H", "foo"}, "-H foo: wanted NAME:VALUE"},
      {{"-m", "x", "--sequence-id-range", "1:abc"}, "START:END"},
      {{"-m", "x", "--sequence-id-range", "7:7"}, "END above START"},
      {{"-m", "x", "--concurrency-range", "8", "--sequence-id-range", "1:5"}, "too few ids"},
  };
  for (const Case& c : cases) EXPECT_THAT(refusal_of(c.arguments), HasSubstr(c.reason));
}

TEST(BenchPlanTest, ReadsWeightsAndParameters) {
  EXPECT_EQ(parse_weighted_model("a")->weight, 1);
  EXPECT_EQ(parse_weighted_model("a=2.5")->weight, 2.5);
  EXPECT_EQ(parse_weighted_model("a=2.5")->name, "a");
  EXPECT_FALSE(parse_weighted_model("a=0"));
  EXPECT_FALSE(parse_weighted_model("=1"));
  EXPECT_EQ(std::get<std::string>(parse_request_parameter("a:b:c:string")->value), "b:c");
  EXPECT_EQ(std::get<std::int64_t>(parse_request_parameter("a:-3:int")->value), -3);
  EXPECT_EQ(std::get<std::uint64_t>(parse_request_parameter("a:3:uint")->value), 3U);
  EXPECT_EQ(std::get<bool>(parse_request_parameter("a:true:bool")->value), true);
  EXPECT_EQ(std::get<double>(parse_request_parameter("a:0.5:double")->value), 0.5);
  for (const char* text :
       {"a", "a:b", "a:b:int", "a:-1:uint", ":b:string", "a:maybe:bool", "a:b:x"}) {
    EXPECT_FALSE(parse_request_parameter(text)) << text;
  }
}

TEST(BenchPlanTest, CarriesPerfAnalyzersMeasurementFlags) {
  const auto plan = plan_of({"-m", "x", "-p", "2000", "-s", "5", "-r", "7", "--measurement-mode",
                             "count_windows", "--measurement-request-count", "80", "--percentile",
                             "95", "--max-threads", "3", "--async", "-v", "-v"});
  EXPECT_EQ(plan.pass.interval, std::chrono::seconds(2));
  EXPECT_EQ(plan.pass.rule.percentage, 5);
  EXPECT_EQ(plan.pass.max_windows, 7);
  EXPECT_EQ(plan.pass.window_requests, 80U);
  EXPECT_EQ(plan.pass.rule.percentile, 95);
  EXPECT_EQ(plan.pass.max_threads, 3);
}

}  // namespace
}  // namespace proa
