#include "base/log.h"

#include <fstream>
#include <sstream>

#include "base/testing/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::log {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class LogTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(configure({})); }

  std::string text() const {
    std::stringstream all;
    all << std::ifstream(path_).rdbuf();
    return all.str();
  }

  TempFolder folder_;
  std::string path_ = (folder_.path() / "log").string();
};

void log_each_weight() {
  debug("a debug line");
  info("an info line");
  warn("a warning line");
  error("an error line");
}

TEST_F(LogTest, SwitchesEveryWeightForItself) {
  ASSERT_TRUE(configure({.info = true, .warning = false, .error = true, .file = path_}));
  log_each_weight();
  EXPECT_THAT(text(), HasSubstr("an info line"));
  EXPECT_THAT(text(), HasSubstr("an error line"));
  EXPECT_THAT(text(), Not(HasSubstr("a warning line")));
  EXPECT_THAT(text(), Not(HasSubstr("a debug line")));
}

TEST_F(LogTest, ChangesWhatIsLoggedButNotWhere) {
  ASSERT_TRUE(configure({.file = path_}));
  change({.info = false, .warning = false, .error = false, .verbose = 1, .file = "/elsewhere"});
  log_each_weight();
  EXPECT_THAT(text(), HasSubstr("a debug line"));
  EXPECT_THAT(text(), Not(HasSubstr("an error line")));
  EXPECT_EQ(current().file, path_);
  EXPECT_EQ(current().verbose, 1);
}

TEST_F(LogTest, WritesBothFormats) {
  ASSERT_TRUE(configure({.file = path_}));
  info("one");
  EXPECT_THAT(text(), MatchesRegex("20..-..-..T..:..:..\\....Z I one\n"));
  change({.format = Format::kDefault});
  warn("two");
  EXPECT_THAT(text(), MatchesRegex(".*\nW.... ..:..:..\\....... [0-9]+ two\n"));
}

TEST_F(LogTest, NamesAFileThatCannotBeOpened) {
  const Status status = configure({.file = path_ + "/no/such/folder"});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("no/such/folder' cannot be opened: "));
}

TEST_F(LogTest, KnowsTheFormatsByName) {
  EXPECT_EQ(*parse_format("ISO8601"), Format::kIso8601);
  EXPECT_EQ(*parse_format("default"), Format::kDefault);
  EXPECT_FALSE(parse_format("json"));
}

TEST(PrintableTest, KeepsALineOneLine) { EXPECT_EQ(printable("a\nb\x7f"), "a\\x0ab\\x7f"); }

}  // namespace
}  // namespace proa::log
