#include "storage/model_name.h"

#include <string>

#include "base/utf8.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::storage {
namespace {

using testing::HasSubstr;

TEST(ModelNameTest, AcceptsWhatAFolderCanBeCalled) {
  for (const std::string& name :
       {std::string("resnet50"), std::string("with space"), std::string("q\"uo\\te"),
        std::string("\xc3\xa9"), std::string("..data"), std::string(255, 'x')}) {
    EXPECT_TRUE(check_model_name(name)) << name;
  }
}

TEST(ModelNameTest, SaysWhatIsWrongInTextThatClientsCanRead) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "'' is no model name: it is empty"},
      {"..", "names no folder"},
      {"a/b", "'a/b' is no model name: it contains '/'"},
      {std::string(256, 'x'), "xx...' is no model name: it is longer than 255 bytes"},
      {"\xff", "'?' is no model name: it is not UTF-8"},
      {std::string("a\0b", 3), "'a\\x00b' is no model name: it contains a control character"},
      {"new\nline", "control character"}};
  for (const auto& [name, wanted] : cases) {
    const Status status = check_model_name(name);
    ASSERT_FALSE(status) << name;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(status.error().message, HasSubstr(wanted));
    EXPECT_TRUE(is_utf8(status.error().message));
  }
}

}  // namespace
}  // namespace proa::storage
