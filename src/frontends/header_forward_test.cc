#include "frontends/header_forward.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::frontends {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr net::Header kHeaders[] = {
    {"x-user", "ann"},      {"accept", "*/*"}, {"te", "trailers"}, {"x-trace-bin", "AAA="},
    {"grpc-timeout", "1S"}, {"x-team", "red"}, {"x-user", "bob"}};

std::vector<std::string> forwarded(std::string_view pattern) {
  std::vector<std::string> found;
  const Parameters parameters = *HeaderForward::compile(pattern)->collect(kHeaders);
  for (const Parameter& parameter : parameters) {
    found.push_back(parameter.name + "=" + std::get<std::string>(parameter.value));
  }
  return found;
}

TEST(HeaderForwardTest, TakesNamesThatHoldAMatchWhateverItsCase) {
  EXPECT_THAT(forwarded("^X-"), ElementsAre("x-user=bob", "x-team=red"));
  EXPECT_THAT(forwarded("TEAM"), ElementsAre("x-team=red"));
  EXPECT_THAT(forwarded("(?-i)TEAM"), IsEmpty());
}

TEST(HeaderForwardTest, NamesParametersAsTheClientWroteThem) {
  const net::Header header{"x-user", "ann", "X-User"};
  const Parameters parameters = *HeaderForward::compile("user")->collect(std::span(&header, 1));
  ASSERT_EQ(parameters.size(), 1u);
  EXPECT_EQ(parameters[0].name, "X-User");
}

TEST(HeaderForwardTest, ForwardsNothingWithoutAPattern) {
  EXPECT_THAT(forwarded(""), IsEmpty());
  EXPECT_THAT(*HeaderForward().collect(kHeaders), IsEmpty());
}

TEST(HeaderForwardTest, LeavesOutWhatBelongsToTheTransport) {
  EXPECT_THAT(forwarded(".*"), ElementsAre("x-user=bob", "accept=*/*", "x-team=red"));
}

TEST(HeaderForwardTest, RefusesNamesOfParametersThatMeanSomething) {
  const HeaderForward all = *HeaderForward::compile(".*");
  for (const char* name : {"sequence_id", "sequence_start", "sequence_end", "priority", "timeout",
                           "binary_data_output", "triton_enable_empty_final_response"}) {
    const net::Header header{name, "1"};
    const auto parameters = all.collect(std::span(&header, 1));
    ASSERT_FALSE(parameters) << name;
    EXPECT_THAT(parameters.error().message, HasSubstr(name));
  }
}

TEST(HeaderForwardTest, RefusesPatternsThatAreNone) {
  const auto broken = HeaderForward::compile("(x");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr("'(x' is not a regular expression: "));
}

TEST(AddForwardedTest, GoesOverWhatTheBodySays) {
  Parameters parameters = {{"x-user", std::string("from the body")}, {"other", true}};
  add_forwarded({{"x-user", std::string("from the proxy")}}, parameters);
  ASSERT_EQ(parameters.size(), 2u);
  EXPECT_EQ(std::get<std::string>(parameters[0].value), "from the proxy");
}

}  // namespace
}  // namespace proa::frontends
