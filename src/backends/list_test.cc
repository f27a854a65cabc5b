#include "backends/list.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends {
namespace {

using testing::HasSubstr;

TEST(BackendListTest, FindsEveryBackendByItsName) {
  const BackendList list({});
  for (const std::string_view name : list.names()) {
    const Result<core::Backend*> found = list.find(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ((*found)->name(), name);
  }
  EXPECT_TRUE(list.find("identity"));
  EXPECT_TRUE(list.find("openvino"));
}

TEST(BackendListTest, KeepsTheNamesInOrder) {
  const std::vector<std::string_view> names = BackendList({}).names();
  EXPECT_TRUE(std::ranges::is_sorted(names));
}

TEST(BackendListTest, NamesTheBackendsThatThereAre) {
  const BackendList list({});
  const Error error = list.find("identidy").error();
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_THAT(error.message, HasSubstr("'identidy'"));
  EXPECT_THAT(error.message, HasSubstr("cuda, identity, image, index, openvino, python"));
}

}  // namespace
}  // namespace proa::backends
