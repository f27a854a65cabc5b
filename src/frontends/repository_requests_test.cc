#include "frontends/repository_requests.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::frontends {
namespace {

using testing::HasSubstr;

// The load request that this HTTP body asks for.
Result<lifecycle::LoadRequest> parse(std::string_view body) {
  inference::RepositoryModelLoadRequest message;
  message.set_model_name("m");
  PROA_TRY(read_repository_body(body, message));
  return to_load_request(std::move(message));
}

std::string unload_problem(std::string_view body) {
  inference::RepositoryModelUnloadRequest message;
  const Status status = read_repository_body(body, message);
  if (!status) return status.error().message;
  const auto dependents = unloads_dependents(message);
  return dependents ? "" : dependents.error().message;
}

TEST(RepositoryRequestsTest, ReadsConfigurationAndFiles) {
  const auto plain = parse("");
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->config_json);
  const auto request =
      parse(R"({"parameters": {"config": "{}", "file:1/model.onnx": "aGVsbG8="}})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->config_json, "{}");
  ASSERT_EQ(request->files.size(), 1u);
  EXPECT_EQ(request->files[0].path, "1/model.onnx");
  EXPECT_EQ(request->files[0].content, "hello");
}

TEST(RepositoryRequestsTest, TellsWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"parameters": {"config": true}})", "'config' must be a string"},
      {R"({"parameters": {"file:1/x": "aGk="}})", "'file:1/x' needs 'config'"},
      {R"({"parameters": {"file:1/x": "?"}})", "base64"},
      {R"({"parameters": {"file:1/x": 1}})", "as bytes"},
      {R"({"parameters": {"colour": "red"}})", "unrecognized parameter 'colour'"},
  };
  for (const auto& [body, words] : cases) {
    const auto result = parse(body);
    ASSERT_FALSE(result) << body;
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(result.error().message, HasSubstr(words)) << body;
  }
  inference::RepositoryModelLoadRequest elsewhere;
  elsewhere.set_repository_name("mine");
  EXPECT_EQ(to_load_request(elsewhere).error().code, ErrorCode::kUnimplemented);
}

TEST(RepositoryRequestsTest, ChecksUnloads) {
  EXPECT_EQ(unload_problem(""), "");
  EXPECT_EQ(unload_problem(R"({"parameters": {"unload_dependents": true}})"), "");
  EXPECT_THAT(unload_problem(R"({"parameters": {"unload_dependents": "yes"}})"),
              HasSubstr("must be a boolean"));
  EXPECT_THAT(unload_problem(R"({"parameters": {"config": "{}"}})"), HasSubstr("unrecognized"));
}

}  // namespace
}  // namespace proa::frontends
