#include "loadgen/report/text.h"

#include <gmock/gmock.h>

#include "loadgen/report/make_report.h"
#include "loadgen/report/testing/runs.h"

namespace proa::loadgen {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ReportTextTest, SaysWhereTheTimeGoes) {
  const std::string text = text_report(make_report(closed_loop_run()));
  EXPECT_THAT(text, HasSubstr("of       8.10 ms: 4.86 ms queue, 2.59 ms compute, 243 us server "
                              "overhead, 405 us network and client"));
  EXPECT_THAT(text, HasSubstr("16 payloads, 16 distinct, 602.1 kB each"));
  EXPECT_THAT(text, HasSubstr("(batch 2.00)"));
  EXPECT_THAT(text, HasSubstr("knee: 2 in flight already reaches 100 %"));
  EXPECT_THAT(text, AllOf(HasSubstr("note: closed loop"), Not(HasSubstr("unstable"))));
}

TEST(ReportTextTest, MarksWhatIsNotToBeTrusted) {
  const std::string text = text_report(make_report(saturated_run()));
  EXPECT_THAT(text, HasSubstr("1000/s Poisson  [INVALID]"));
  EXPECT_THAT(text, HasSubstr("asked 1000/s, sent 900/s"));
  EXPECT_THAT(text, HasSubstr("invalid: 1000/s Poisson: INVALID: the load generator was the"));
}

TEST(ReportTextTest, ALevelWithoutASuccess) {
  RunResult run = closed_loop_run();
  run.passes.resize(1);
  run.passes[0].latencies = {};
  run.passes[0].counts = {.sent = 5, .errors = 5};
  run.passes[0].errors = {{"connection refused", 5, "127.0.0.1:1"}};
  const std::string text = text_report(make_report(run));
  EXPECT_THAT(text, AllOf(HasSubstr("no request succeeded"),
                          HasSubstr("failed   5 x connection refused: 127.0.0.1:1")));
}

TEST(ReportTextTest, WhatTheServerSaysCannotSteerTheTerminal) {
  RunResult run = closed_loop_run();
  run.server_name = "pro\x1b[2Ja";
  run.passes[0].server[0].model = "lite\x07";
  run.passes[0].counts.errors = 1;
  run.passes[0].errors = {{"HTTP 500", 1, "\x1b]0;owned\x07\nall is well"}};
  run.find_max = FindMaxResult{.text = "nothing is known, because \x1b[31m"};
  run.find_max->rate = run.passes[0].load;
  const std::string text = text_report(make_report(run));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x07"))));
  EXPECT_THAT(text, Not(HasSubstr("\nall is well")));
  EXPECT_THAT(text, HasSubstr("]0;owned"));
}

TEST(ReportTextTest, DurationsHaveTheUnitThatFits) {
  EXPECT_EQ(duration_text(0), "0 us");
  EXPECT_EQ(duration_text(999.4), "999 us");
  EXPECT_EQ(duration_text(999.6), "1.00 ms");
  EXPECT_EQ(duration_text(12'345), "12.35 ms");
  EXPECT_EQ(duration_text(123'456), "123 ms");
  EXPECT_EQ(duration_text(1'234'567), "1.23 s");
}

TEST(ReportTextTest, ProgressIsOneLine) {
  Progress progress;
  progress.load_text = "4 in flight";
  progress.window = 2;
  progress.max_windows = 10;
  progress.left_at_most = std::chrono::seconds(40);
  progress.last = closed_loop_run().passes[2].series[0];
  EXPECT_EQ(progress_line(progress),
            "4 in flight: window 2 of at most 10, 495/s, 4 in flight, p50 8.18 ms, p99 8.99 ms, "
            "0 errors, 40 s left at most");
}

}  // namespace
}  // namespace proa::loadgen
