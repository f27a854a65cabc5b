#include "backends/list.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends {
namespace {

using testing::HasSubstr;

TEST(BackendListTest, MakesABackendOnce) {
  BackendList list({});
  const Result<core::Backend*> first = list.find("identity");
  ASSERT_TRUE(first);
  EXPECT_EQ((*first)->name(), "identity");
  EXPECT_EQ(*list.find("identity"), *first);
}

TEST(BackendListTest, NamesTheBackendsThatThereAre) {
  BackendList list({});
  const Error error = list.find("identidy").error();
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_THAT(error.message, HasSubstr("'identidy'"));
  for (const std::string_view name : BackendList::names()) {
    EXPECT_THAT(error.message, HasSubstr(std::string(name)));
  }
}

TEST(BackendListTest, MakesEveryBackendUnderItsOwnName) {
  BackendList list({});
  for (const std::string_view name : BackendList::names()) {
    const Result<core::Backend*> made = list.find(name);
    ASSERT_TRUE(made) << name;
    EXPECT_EQ((*made)->name(), name);
  }
}

}  // namespace
}  // namespace proa::backends
