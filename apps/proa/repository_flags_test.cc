#include "repository_flags.h"

#include <CLI/CLI.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa {
namespace {

using testing::HasSubstr;

// The error of these flags; "" = none.
std::string problem(std::vector<std::string> arguments) {
  CLI::App app;
  RepositoryFlags flags;
  add_repository_flags(app, flags);
  std::ranges::reverse(arguments);
  try {
    app.parse(arguments);
  } catch (const CLI::Error& error) {
    return error.what();
  }
  const Status status = flags.check();
  return status ? "" : status.error().message;
}

TEST(RepositoryFlagsTest, TakesTritonsFlags) {
  EXPECT_EQ(problem({}), "");
  EXPECT_EQ(problem({"--model-control-mode=poll", "--repository-poll-secs=3"}), "");
  EXPECT_EQ(problem({"--model-control-mode", "explicit", "--load-model", "a", "--load-model=b"}),
            "");
  EXPECT_EQ(problem({"--model-control-mode=explicit", "--load-model=*"}), "");
  EXPECT_EQ(problem({"--model-config-name=gpu", "--model-load-retry-count=2"}), "");
}

TEST(RepositoryFlagsTest, RefusesWhatMakesNoSense) {
  EXPECT_THAT(problem({"--load-model=a"}), HasSubstr("needs --model-control-mode=explicit"));
  EXPECT_THAT(problem({"--model-control-mode=poll", "--load-model=a"}), HasSubstr("explicit"));
  EXPECT_THAT(problem({"--model-control-mode=explicit", "--load-model=*", "--load-model=a"}),
              HasSubstr("must be the only"));
  EXPECT_THAT(problem({"--model-control-mode=poll", "--repository-poll-secs=0"}),
              HasSubstr("--repository-poll-secs"));
  EXPECT_THAT(problem({"--model-control-mode=sometimes"}), HasSubstr("--model-control-mode"));
  EXPECT_THAT(problem({"--model-config-name=../x"}), HasSubstr("--model-config-name"));
}

TEST(RepositoryFlagsTest, WarnsOfWhatHasNoEffect) {
  RepositoryFlags flags;
  EXPECT_EQ(flags.warning(), "");
  flags.poll_given = true;
  EXPECT_THAT(flags.warning(), HasSubstr("--repository-poll-secs"));
  flags.mode = lifecycle::ControlMode::kPoll;
  EXPECT_EQ(flags.warning(), "");
}

}  // namespace
}  // namespace proa
