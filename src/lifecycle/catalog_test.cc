#include "lifecycle/catalog.h"

#include <vector>

#include "gtest/gtest.h"

namespace proa::lifecycle {
namespace {

TEST(CatalogTest, WhatWasLoadingIsUnloadedToo) {
  const auto catalog = std::make_shared<Catalog>();
  catalog->begin_load("m");
  catalog->fail_load("m", "bad", std::vector<Catalog::FailedVersion>{{1, "bad"}});
  catalog->begin_load("m");  // and given up
  ASSERT_TRUE(catalog->retire("m", std::string(kUnloaded)));
  const std::vector<VersionStatus> lines = catalog->index();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].state, VersionState::kUnavailable);
  EXPECT_EQ(lines[0].reason, kUnloaded);
}

}  // namespace
}  // namespace proa::lifecycle
