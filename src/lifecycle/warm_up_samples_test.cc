#include "lifecycle/warm_up_samples.h"

#include <limits>

#include "base/testing/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::lifecycle {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Data = config::WarmUp::Data;

class WarmUpSamplesTest : public ::testing::Test {
 protected:
  WarmUpSamplesTest() {
    config_.max_batch_size = std::numeric_limits<std::int32_t>::max();
    config_.warm_ups.push_back({.name = "w"});
  }
  void add(const std::string& name, std::int32_t batch_size, Shape dims, Data data = Data::kZero,
           DataType type = DataType::kFp32) {
    config_.warm_ups[0].batch_size = batch_size;
    config_.warm_ups[0].inputs[name] = {type, std::move(dims), data, "rows"};
  }
  Result<std::vector<core::WarmUpSample>> make() {
    auto repository = storage::LocalFolder::open(folder_.path());
    return make_warm_up_samples(*repository, folder_.path() / "m", config_);
  }
  std::string make_error() {
    const auto samples = make();
    return samples ? "no error" : samples.error().message;
  }

  TempFolder folder_;
  config::ModelConfig config_;
};

TEST_F(WarmUpSamplesTest, PutsTheBatchInFront) {
  add("x", 3, {2});
  const auto samples = make();
  ASSERT_TRUE(samples) << samples.error().message;
  EXPECT_EQ((*samples)[0].inputs[0].tensor.shape, (Shape{3, 2}));
  EXPECT_EQ((*samples)[0].inputs[0].tensor.data.size, 24U);
}

// Each of these would end the process for want of memory.
TEST_F(WarmUpSamplesTest, RefusesWhatNoMachineHolds) {
  add("x", 1000000000, {4});
  EXPECT_THAT(make_error(), AllOf(HasSubstr("model_warmup 'w', input 'x'"),
                                  HasSubstr("[1000000000,4] has 4000000000 times 4 bytes"),
                                  HasSubstr("1073741824")));
  add("x", 1000000000, {1000000, 1000000});
  EXPECT_THAT(make_error(), HasSubstr("more than 2^63 bytes"));
  add("x", 1000000000, {4}, Data::kRandom, DataType::kBytes);
  EXPECT_THAT(make_error(), HasSubstr("4000000000 times 12 bytes"));
  folder_.write("m/warmup/rows", std::string(16, 'a'));
  add("x", 1000000000, {}, Data::kFile, DataType::kUint8);
  EXPECT_THAT(make_error(), HasSubstr("file rows of 16 bytes, 1000000000 times"));
}

TEST_F(WarmUpSamplesTest, CountsTheInputsOfARequestTogether) {
  add("a", 1, {100 << 20}, Data::kZero, DataType::kUint8);
  add("b", 1, {1000 << 20}, Data::kZero, DataType::kUint8);
  EXPECT_THAT(make_error(), AllOf(HasSubstr("input 'b'"), HasSubstr("968884224 are left")));
}

}  // namespace
}  // namespace proa::lifecycle
