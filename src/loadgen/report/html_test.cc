#include "loadgen/report/html.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/testing/temp_folder.h"
#include "loadgen/report/make_report.h"
#include "loadgen/report/testing/runs.h"
#include "loadgen/report/write_reports.h"

namespace proa::loadgen {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(HtmlReportTest, IsOneFileThatLoadsNothing) {
  const std::string html = html_report(make_report(closed_loop_run()));
  EXPECT_THAT(html, HasSubstr("<script type=\"application/json\" id=\"report\">{\"schema_version"));
  EXPECT_THAT(html, HasSubstr("class Chart"));
  EXPECT_THAT(html, Not(HasSubstr("@JSON@")));
  for (const char* loads : {"src=", "href=", "@import", "url(", "fetch("}) {
    EXPECT_THAT(html, Not(HasSubstr(loads)));
  }
}

TEST(HtmlReportTest, TextFromOutsideStaysText) {
  RunResult run = closed_loop_run();
  run.passes[0].errors = {{"HTTP 500", 1, "</script><script>alert(1)</script>&"}};
  const std::string html = html_report(make_report(run));
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, HasSubstr("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;"));
  EXPECT_THAT(html, HasSubstr("\\u003c/script>"));
}

TEST(WriteReportsTest, WritesWhatIsAskedFor) {
  const TempFolder folder;
  ReportOptions options;
  options.csv = folder.path() / "a.csv";
  options.json = folder.path() / "a.json";
  options.html = folder.path() / "a.html";
  options.profile_export = folder.path() / "profile.json";
  ASSERT_TRUE(check_report_options(options));
  const ReportOutcome first = write_reports(closed_loop_run(), options);
  ASSERT_TRUE(first.status) << first.status.error().message;
  EXPECT_THAT(first.text, HasSubstr("HTML: " + options.html.string()));
  for (const auto& path : {options.csv, options.json, options.html, options.profile_export}) {
    EXPECT_GT(std::filesystem::file_size(path), 100U) << path;
  }
  ReportOptions compare;
  compare.compare = options.json;
  ASSERT_TRUE(check_report_options(compare));
  EXPECT_FALSE(write_reports(closed_loop_run(), compare).regression);
  EXPECT_TRUE(write_reports(scaled_run(0.5, 2), compare).regression);
}

TEST(WriteReportsTest, KnowsBeforehandWhatWouldFail) {
  const TempFolder folder;
  EXPECT_FALSE(check_report_options({.csv = folder.path() / "none" / "a.csv"}));
  EXPECT_FALSE(check_report_options({.html = folder.path()}));
  EXPECT_FALSE(check_report_options({.compare = folder.path() / "none.json"}));
  const auto old = folder.write("old.json", "{\"schema_version\": 1, \"levels\": 3}");
  const Status broken = check_report_options({.compare = old});
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr("--compare " + old.string() + ": line 1"));
}

TEST(WriteReportsTest, OneFailureDoesNotKeepTheOthers) {
  const TempFolder folder;
  ReportOptions options;
  options.csv = folder.path() / "none" / "a.csv";
  options.json = folder.path() / "a.json";
  const ReportOutcome outcome = write_reports(closed_loop_run(), options);
  ASSERT_FALSE(outcome.status);
  EXPECT_THAT(outcome.status.error().message, HasSubstr("a.csv: No such file"));
  EXPECT_TRUE(std::filesystem::exists(options.json));
  EXPECT_THAT(outcome.text, HasSubstr("in flight"));
}

}  // namespace
}  // namespace proa::loadgen
