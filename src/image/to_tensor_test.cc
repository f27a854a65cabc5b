#include "image/to_tensor.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::image {
namespace {

using ::testing::ElementsAre;

Image two_pixels() {
  Image image = make_image(2, 1);
  for (int i = 0; i < 6; ++i) image.row(0)[i] = static_cast<std::uint8_t>(10 * i);
  return image;
}

template <class Value>
std::vector<Value> values(const Tensor& tensor) {
  const auto* begin = reinterpret_cast<const Value*>(tensor.data.data());
  return {begin, begin + tensor.data.size / sizeof(Value)};
}

TEST(ToTensorTest, NormalisesByChannel) {
  const auto tensor = to_tensor(two_pixels(), {.mean = {0, 10, 0}, .scale = {1, 2, 0.5F}});
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->shape, (Shape{1, 3, 1, 2}));
  EXPECT_THAT(values<float>(*tensor), ElementsAre(0, 30, 0, 60, 10, 25));
}

TEST(ToTensorTest, KeepsChannelsLastForNhwc) {
  const auto tensor = to_tensor(two_pixels(), {.layout = Layout::kNhwc, .type = DataType::kUint8});
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->shape, (Shape{1, 1, 2, 3}));
  EXPECT_THAT(values<std::uint8_t>(*tensor), ElementsAre(0, 10, 20, 30, 40, 50));
}

TEST(ToTensorTest, TurnsChannelsRoundOrIntoGrey) {
  auto tensor =
      to_tensor(two_pixels(), {.channels = Channels::kBgr, .mean = {1, 0, 0}, .scale = {1, 1, 1}});
  ASSERT_TRUE(tensor);
  EXPECT_THAT(values<float>(*tensor), ElementsAre(19, 49, 10, 40, 0, 30));
  tensor = to_tensor(two_pixels(), {.channels = Channels::kGrey, .type = DataType::kUint8});
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->shape, (Shape{1, 1, 1, 2}));
  // 0.299 r + 0.587 g + 0.114 b
  EXPECT_THAT(values<std::uint8_t>(*tensor), ElementsAre(8, 38));
}

TEST(ToTensorTest, DefaultsToEfficientNetLite) {
  const auto tensor = to_tensor(two_pixels(), {});
  ASSERT_TRUE(tensor);
  EXPECT_FLOAT_EQ(values<float>(*tensor)[0], (0 - 127) / 128.0F);
}

TEST(ToTensorTest, RefusesOtherTypes) {
  EXPECT_FALSE(to_tensor(two_pixels(), {.type = DataType::kInt64}));
}

}  // namespace
}  // namespace proa::image
