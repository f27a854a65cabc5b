#include "protocol/repository_json.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::protocol {
namespace {

using testing::HasSubstr;

TEST(RepositoryJsonTest, ReadsParameters) {
  const auto none = read_repository_parameters("");
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
  const auto found = read_repository_parameters(
      R"({"id": [1, {"a": 2}], "parameters": {"config": "{\"a\":1}", "unload_dependents": true,
          "number": -7, "file:1/x": "aGk="}})");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 4u);
  EXPECT_EQ((*found)[0].name, "config");
  EXPECT_EQ(std::get<std::string>((*found)[0].value), R"({"a":1})");
  EXPECT_TRUE(std::get<bool>((*found)[1].value));
  EXPECT_EQ(std::get<std::int64_t>((*found)[2].value), -7);
  EXPECT_EQ(std::get<std::string>((*found)[3].value), "aGk=");
}

TEST(RepositoryJsonTest, TellsWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"nonsense", "JSON"},
      {"[1]", "must be a JSON object"},
      {R"({"parameters": [1]})", "parameters' must be an object"},
      {R"({"parameters": {"config": {}}})", "parameters.config' must be a string"},
      {R"({"parameters": {"config": 1.5}})", "parameters.config' must be a string"},
      {R"({"parameters": {"config": null}})", "parameters.config' must be a string"},
      {R"({"parameters": {"a": 1, "a": 2}})", "member 'a' comes twice"},
      {R"({"parameters": {"a": 1)", "JSON"},
      {R"({} {})", "goes on after"},
  };
  for (const auto& [body, words] : cases) {
    const auto result = read_repository_parameters(body);
    ASSERT_FALSE(result) << body;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(result.error().message, HasSubstr(words)) << body;
  }
}

}  // namespace
}  // namespace proa::protocol
