#include "triton_flags.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <set>
#include <sstream>

#include "base/testing/source_path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "serve_options.h"

namespace proa {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct TritonFlagsTest : ::testing::Test {
  CLI::App app;
  ServeOptions options;
  CLI::App* serve = add_serve_command(app, options);

  void parse(const std::string& flags) { app.parse("serve " + flags, false); }
  FlagVerdict verdict(const std::string& flags) {
    parse(flags);
    return judge(options.unused);
  }
};

TEST_F(TritonFlagsTest, EveryOneOfThe91IsKnownToTheCommandLine) {
  std::set<std::string_view> names;
  for (const TritonFlag& flag : triton_flags()) {
    EXPECT_TRUE(names.insert(flag.name).second) << flag.name;
    EXPECT_NE(serve->get_option_no_throw("--" + std::string(flag.name)), nullptr) << flag.name;
  }
  EXPECT_THAT(names, SizeIs(91));
}

TEST_F(TritonFlagsTest, WhatWorksNeedsNoSentenceAndTheRestHasOne) {
  for (const TritonFlag& flag : triton_flags()) {
    EXPECT_EQ(flag.sentence.empty(), flag.fate == FlagFate::kWorks) << flag.name;
  }
}

TEST_F(TritonFlagsTest, HelpShowsWhatWorksOnly) {
  const std::string help = serve->help();
  for (const TritonFlag& flag : triton_flags()) {
    if (flag.fate == FlagFate::kWorks) continue;
    const std::string name = "--" + std::string(flag.name);
    EXPECT_EQ(help.find(name + " "), std::string::npos) << name;
  }
}

TEST_F(TritonFlagsTest, IgnoresWithASentenceWhatClientsDoNotSee) {
  const auto found = verdict("--pinned-memory-pool-byte-size 0 --host-policy=a,numa-node=0");
  EXPECT_THAT(found.errors, IsEmpty());
  ASSERT_THAT(found.warnings, SizeIs(2));
  EXPECT_THAT(found.warnings[0], HasSubstr("--pinned-memory-pool-byte-size=0 is ignored: it "));
}

TEST_F(TritonFlagsTest, RefusesWhatClientsWouldMiss) {
  for (const char* flags :
       {"--grpc-use-ssl", "--grpc-use-ssl=true", "--grpc-use-ssl-mutual true",
        "--http-restricted-api=health:key=value", "--grpc-restricted-protocol=health:key=value",
        "--allow-client-shm", "--allow-sagemaker=true", "--rate-limit=execution_count"}) {
    options.unused.clear();
    EXPECT_THAT(verdict(flags).errors, SizeIs(1)) << flags;
  }
}

TEST_F(TritonFlagsTest, SaysNothingOfFlagsThatAskForNothing) {
  const auto found = verdict(
      "--grpc-use-ssl=false --grpc-use-ssl-mutual false --rate-limit=off --allow-sagemaker=false "
      "--model-namespacing=false --allow-client-shm=false --response-cache-byte-size=0");
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_THAT(found.warnings, IsEmpty());
}

TEST_F(TritonFlagsTest, TellsAllAtOnce) {
  EXPECT_THAT(verdict("--grpc-use-ssl --allow-sagemaker --trace-config=level=OFF").errors,
              SizeIs(2));
}

TEST_F(TritonFlagsTest, StandInTheDocumentWordForWord) {
  std::ifstream file(source_path("docs/serve.md"));
  std::stringstream document;
  document << file.rdbuf();
  EXPECT_THAT(document.str(), HasSubstr(triton_flags_as_markdown()));
}

TEST_F(TritonFlagsTest, FlagsThatWorkReachTheOptions) {
  parse(
      "--grpc-keepalive-time 1000 --grpc-keepalive-timeout=2000 "
      "--grpc-keepalive-permit-without-calls 1 --grpc-http2-max-pings-without-data 3 "
      "--grpc-http2-min-recv-ping-interval-without-data 4000 --grpc-http2-max-ping-strikes 5 "
      "--grpc-max-connection-age 6000 --grpc-max-connection-age-grace 7000 --reuse-http-port "
      "--reuse-grpc-port=true --log-format default --log-file /tmp/x --strict-model-config=true "
      "--backend-config=default-max-batch-size=9");
  using std::chrono::milliseconds;
  EXPECT_EQ(options.limits.ping_interval, milliseconds(1000));
  EXPECT_EQ(options.limits.ping_timeout, milliseconds(2000));
  EXPECT_TRUE(options.limits.ping_without_streams);
  EXPECT_TRUE(options.limits.permit_pings_without_streams);
  EXPECT_EQ(options.limits.max_pings_without_data, 3u);
  EXPECT_EQ(options.limits.min_ping_interval, milliseconds(4000));
  EXPECT_EQ(options.limits.max_ping_strikes, 5u);
  EXPECT_EQ(options.limits.max_connection_age, milliseconds(6000));
  EXPECT_EQ(options.limits.age_grace, milliseconds(7000));
  EXPECT_TRUE(options.http.reuse_port);
  EXPECT_TRUE(options.grpc.reuse_port);
  EXPECT_EQ(options.log.format, log::Format::kDefault);
  EXPECT_EQ(options.log.file, "/tmp/x");
  EXPECT_FALSE(options.auto_complete_config);
  EXPECT_EQ(options.backend_config.default_max_batch_size, 9);
  EXPECT_THAT(options.deprecated, SizeIs(1));
}

TEST_F(TritonFlagsTest, RefusesPatternsThatAreNone) {
  EXPECT_THROW(parse("--http-header-forward-pattern=("), CLI::ValidationError);
}

}  // namespace
}  // namespace proa
