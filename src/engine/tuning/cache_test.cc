#include "engine/tuning/cache.h"

#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::engine {
namespace {

using testing::HasSubstr;

TEST(TuningCacheTest, FileGivesBackWhatWasPut) {
  TuningCache cache;
  cache.put("H200 cudnn 91900", "conv(FP16[1,8,8,64]) act=relu",
            {Implementation::kCudnnRuntime, "4:24=5,17=2", 12.345f});
  cache.put("H200 cudnn 91900", "matmul(FP16[1,64])", {Implementation::kCublasLt, "", 3});
  const std::string path = testing::TempDir() + "/tuning.txt";
  ASSERT_TRUE(cache.save_file(path));
  auto again = TuningCache::load_file(path);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->print(), cache.print());
  const auto choice = again->find("H200 cudnn 91900", "conv(FP16[1,8,8,64]) act=relu");
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->implementation, Implementation::kCudnnRuntime);
  EXPECT_EQ(choice->variant, "4:24=5,17=2");
  EXPECT_FLOAT_EQ(choice->microseconds, 12.345f);
}

TEST(TuningCacheTest, AnotherEnvironmentKnowsNothing) {
  TuningCache cache;
  cache.put("H200 cudnn 91900", "step", {});
  EXPECT_FALSE(cache.find("H200 cudnn 91400", "step"));
}

TEST(TuningCacheTest, AMissingFileIsEmpty) {
  auto cache = TuningCache::load_file(testing::TempDir() + "/no_such_tuning.txt");
  ASSERT_TRUE(cache);
  EXPECT_EQ(cache->size(), 0u);
}

TEST(TuningCacheTest, WhatANewerVersionWroteIsKept) {
  const std::string newer = "H200\tconv(x)\tmagic\t7\t1.000\n";
  auto cache = TuningCache::parse("H200\tconv(x)\tcublaslt\t1\t2.000\n" + newer);
  ASSERT_TRUE(cache) << cache.error().message;
  EXPECT_EQ(cache->size(), 1u);
  EXPECT_FALSE(cache->changed());
  EXPECT_THAT(cache->print(), HasSubstr(newer));
  cache->put("H200", "conv(y)", {});
  EXPECT_TRUE(cache->changed());
}

TEST(TuningCacheTest, FilesThatCannotBeReadOrWrittenAreNamed) {
  const std::string folder = testing::TempDir();
  auto read = TuningCache::load_file(folder);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr(folder));
  const Status written = TuningCache{}.save_file(folder + "/no/such/folder/tuning.txt");
  ASSERT_FALSE(written);
  // Not kUnavailable: that would tell of a broken device.
  EXPECT_EQ(written.error().code, ErrorCode::kFailedPrecondition);
  EXPECT_THAT(written.error().message, HasSubstr("no/such/folder"));
}

TEST(TuningCacheTest, ModelsThatAreTunedAtTheSameTimeLoseNothing) {
  const std::string path = testing::TempDir() + "/tuned_together.txt";
  std::filesystem::remove(path);
  TuningCache one, other;
  one.put("H200", "conv(x)", {Implementation::kCublasLt, "1", 1});
  other.put("H200", "conv(y)", {Implementation::kCublasLt, "2", 2});
  ASSERT_TRUE(one.save_file(path));
  ASSERT_TRUE(other.save_file(path));
  EXPECT_FALSE(other.changed());
  EXPECT_TRUE(other.find("H200", "conv(x)"));
  const auto both = TuningCache::load_file(path);
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(both->size(), 2u);
  // What is newer stands, and only what was put is written.
  other.put("H200", "conv(x)", {Implementation::kCublasLt, "3", 3});
  ASSERT_TRUE(other.save_file(path));
  one.put("H200", "conv(z)", {});
  ASSERT_TRUE(one.save_file(path));
  EXPECT_EQ(one.find("H200", "conv(x)")->variant, "3");
}

TEST(TuningCacheTest, ABrokenLineIsNamed) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"# fine\na\tb\tcublaslt\tx", "line 2: wanted 5 fields"},
      {"a\tb\tcublaslt\tx\tsoon", "'soon' is no time"},
      {"a\tb\tcublaslt\tx\tnan", "'nan' is no time"},
      {"a\tb\tcublaslt\tx\tinf", "'inf' is no time"},
      {"a\tb\tcublaslt\tx\t-5", "'-5' is no time"},
  };
  for (const auto& [text, message] : cases) {
    auto cache = TuningCache::parse(text);
    ASSERT_FALSE(cache);
    EXPECT_THAT(cache.error().message, HasSubstr(message));
  }
}

}  // namespace
}  // namespace proa::engine
