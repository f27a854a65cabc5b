#include "frontends/http/route_table.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::frontends {
namespace {

using ::testing::ElementsAre;
using Kind = RouteTable::Match::Kind;

constexpr Route kRoutes[] = {
    {"POST", "/v2/models/{model}/infer", 1},
    {"POST", "/v2/models/{model}/versions/{version}/infer", 2},
    {"GET", "/v2/models/{model}", 3},
    {"GET", "/v2/models/stats", 4},
    {"GET", "/v2/logging", 5},
    {"POST", "/v2/logging", 6},
};

TEST(RequestPathTest, CutsAtSlashesAndDropsTheQuery) {
  const RequestPath path("/v2/models/m?x=/y");
  EXPECT_TRUE(path.valid());
  EXPECT_THAT(path.segments(), ElementsAre("v2", "models", "m"));
}

TEST(RequestPathTest, ToleratesOneSlashAtTheEnd) {
  EXPECT_THAT(RequestPath("/v2/").segments(), ElementsAre("v2"));
  EXPECT_THAT(RequestPath("/v2//").segments(), ElementsAre("v2", ""));
  EXPECT_THAT(RequestPath("/").segments(), ElementsAre());
}

TEST(RequestPathTest, DecodesEverySegmentAfterCutting) {
  const RequestPath path("/v2/models/a%2Fb%20c/versions/%31%32");
  EXPECT_TRUE(path.valid());
  EXPECT_THAT(path.segments(), ElementsAre("v2", "models", "a/b c", "versions", "12"));
}

TEST(RequestPathTest, RefusesMalformedEncodingsAndOtherTargets) {
  for (const char* target : {"/v2/%", "/v2/%4", "/v2/%zz", "/v2/%+1", "*", "", "v2"}) {
    EXPECT_FALSE(RequestPath(target).valid()) << target;
  }
}

TEST(RouteTableTest, FindsByMethodAndPath) {
  const RouteTable table(kRoutes);
  const RequestPath path("/v2/models/resnet/versions/3/infer");
  const auto match = table.find("POST", path);
  EXPECT_EQ(match.kind, Kind::kFound);
  EXPECT_EQ(match.endpoint, 2);
  EXPECT_EQ(match.arguments.model, "resnet");
  EXPECT_EQ(match.arguments.version, "3");
}

TEST(RouteTableTest, TakesTheFirstOfTwoThatMatch) {
  const RouteTable table(kRoutes);
  EXPECT_EQ(table.find("GET", RequestPath("/v2/models/stats")).endpoint, 3);
}

TEST(RouteTableTest, NamesTheMethodsOfAPathAskedWithAnother) {
  const RouteTable table(kRoutes);
  const auto wrong = table.find("PUT", RequestPath("/v2/logging"));
  EXPECT_EQ(wrong.kind, Kind::kWrongMethod);
  EXPECT_EQ(wrong.allow, "GET, POST");
}

TEST(RouteTableTest, AnswersHeadWhereGetIsAllowed) {
  const RouteTable table(kRoutes);
  EXPECT_EQ(table.find("HEAD", RequestPath("/v2/models/m")).kind, Kind::kFound);
  EXPECT_EQ(table.find("HEAD", RequestPath("/v2/models/m/infer")).kind, Kind::kWrongMethod);
}

TEST(RouteTableTest, KnowsNoOtherPath) {
  const RouteTable table(kRoutes);
  const std::string long_path = "/v2/models/m/versions/1/infer" + std::string(40, '/');
  for (const std::string& target :
       {std::string("/"), std::string("/v2"), std::string("/v2/models"), std::string("/V2/logging"),
        std::string("/v2/logging/x"), std::string("/v2//logging"), long_path, std::string("/%")}) {
    EXPECT_EQ(table.find("GET", RequestPath(target)).kind, Kind::kNoSuchPath) << target;
  }
}

}  // namespace
}  // namespace proa::frontends
