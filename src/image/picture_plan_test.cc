#include "image/picture_plan.h"

#include <fstream>
#include <iterator>

#include "base/testing/source_path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::image {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t kAny = Shape::kAny;

PictureInput fp32(std::string name, Shape shape) {
  return {std::move(name), DataType::kFp32, std::move(shape)};
}

std::string plan(const PictureInput& input, bool batches, const PictureOptions& options = {}) {
  const auto planned = plan_picture(input, batches, options);
  return planned ? planned->to_string() : planned.error().message;
}

TEST(PicturePlanTest, FollowsTheInputsShape) {
  EXPECT_EQ(plan(fp32("x", {kAny, 3, 224, 224}), true),
            "RGB, short side 256 bicubic, centre crop 224x224, (x - 127) * 1/128, FP32 NCHW");
  EXPECT_EQ(plan(fp32("x", {1, 448, 448, 3}), false),
            "RGB, short side 512 bicubic, centre crop 448x448, (x - 127) * 1/128, FP32 NHWC");
  EXPECT_EQ(plan({"x", DataType::kUint8, {kAny, 3, 48, 192}}, true),
            "RGB, 192x48 bicubic, UINT8 NCHW");
  EXPECT_EQ(plan(fp32("x", {kAny, 1, 28, 28}), true),
            "grey, short side 32 bicubic, centre crop 28x28, (x - 127) * 1/128, FP32 NCHW");
  EXPECT_EQ(plan(fp32("x", {kAny, 3, kAny, kAny}), true),
            "RGB, short side 256 bicubic, centre crop 224x224, (x - 127) * 1/128, FP32 NCHW");
  EXPECT_EQ(plan({"x", DataType::kBytes, {kAny, 1}}, true), "sent as it is");
}

TEST(PicturePlanTest, TakesWhatIsSaid) {
  const auto x = fp32("x", {kAny, 3, kAny, kAny});
  EXPECT_EQ(
      plan(x, true,
           {.mean = "1,2,3", .scale = "1/2", .resize = "none", .crop = "none", .channels = "bgr"}),
      "BGR, (x - [1,2,3]) * 1/2, FP32 NCHW");
  EXPECT_EQ(plan(x, true, {.resize = "320x240", .filter = "bilinear"}),
            "RGB, 320x240 bilinear, (x - 127) * 1/128, FP32 NCHW");
  EXPECT_EQ(plan(x, true, {.resize = "100", .crop = "90x80"}),
            "RGB, short side 100 bicubic, centre crop 90x80, (x - 127) * 1/128, FP32 NCHW");
}

TEST(PicturePlanTest, NamesTheOptionThatIsWrong) {
  const auto x = fp32("x", {kAny, 3, 224, 224});
  EXPECT_THAT(plan(x, true, {.mean = "1,2"}), HasSubstr("--mean has 2 numbers"));
  EXPECT_THAT(plan(x, true, {.scale = "1/0"}), HasSubstr("division by 0"));
  EXPECT_THAT(plan(x, true, {.scale = "fast"}), HasSubstr("--scale has 'fast'"));
  EXPECT_THAT(plan(x, true, {.resize = "0"}), HasSubstr("--resize has '0'"));
  EXPECT_THAT(plan(x, true, {.channels = "grey"}), HasSubstr("3 channel(s)"));
  EXPECT_THAT(plan(fp32("x", {kAny, 10}), true), HasSubstr("no picture's"));
  EXPECT_THAT(plan(fp32("x", {kAny, 7, 224, 224}), true), HasSubstr("--layout"));
  EXPECT_THAT(plan({"x", DataType::kInt64, {kAny, 3, 224, 224}}, true), HasSubstr("INT64"));
}

TEST(PicturePlanTest, FindsTheInputThatLooksLikeAPicture) {
  std::vector<PictureInput> inputs = {fp32("size", {kAny, 2}), fp32("image", {kAny, 3, 8, 8})};
  EXPECT_EQ(*find_picture_input(inputs), 1U);
  inputs.push_back(fp32("mask", {kAny, 1, 8, 8}));
  const auto ambiguous = find_picture_input(inputs);
  ASSERT_FALSE(ambiguous);
  EXPECT_THAT(ambiguous.error().message, HasSubstr("--picture-input"));
}

TEST(PicturePlanTest, PreparesAFile) {
  std::ifstream stream(source_path("src/image/testing/cases/decode_rgb.png").string(),
                       std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  const auto file = std::as_bytes(std::span(bytes));
  const auto planned = plan_picture(fp32("x", {kAny, 3, 8, 8}), true, {});
  ASSERT_TRUE(planned);
  const auto tensor = prepare_picture(file, *planned);
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(tensor->shape, (Shape{1, 3, 8, 8}));
  EXPECT_FALSE(prepare_picture(file.first(10), *planned));

  const auto large = plan_picture(fp32("x", {kAny, 3, kAny, kAny}), true, {.resize = "100"});
  ASSERT_TRUE(large);
  const auto refused = prepare_picture(file, *large);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("the crop of 224x224 is larger"), HasSubstr("after resizing")));
}

}  // namespace
}  // namespace proa::image
