#include "image/transform.h"

#include <cstring>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "image/testing/cases.h"
#include "image/writer_kernels.h"

namespace proa::image {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kMostPixels = 1 << 20;

Geometry plan(const Transform& transform, Size original) {
  const auto geometry = plan_geometry(transform, original, kMostPixels);
  EXPECT_TRUE(geometry) << geometry.error().message;
  return geometry.value_or(Geometry{});
}

std::vector<std::uint8_t> bytes_of(const Image& image, Transform transform) {
  transform.tensor.type = DataType::kUint8;
  const Geometry geometry = plan(transform, {image.width, image.height});
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(
      transform.tensor.channel_count() * geometry.output.width * geometry.output.height));
  transform_into(image, transform, geometry, reinterpret_cast<std::byte*>(bytes.data()));
  return bytes;
}

Image flat(int width, int height, std::uint8_t value) {
  Image image = make_image(width, height);
  std::memset(image.pixels.data(), value, image.pixels.size());
  return image;
}

TEST(TransformTest, ResizesTheShorterSideAndCropsTheCentre) {
  const Geometry geometry =
      plan({.fit = Fit::kShorterSide, .size = {256, 256}, .crop = Size{224, 224}}, {601, 400});
  EXPECT_EQ(geometry.resized, (Size{384, 256}));
  EXPECT_EQ(geometry.window.x, 80);
  EXPECT_EQ(geometry.window.y, 16);
  EXPECT_EQ(geometry.output, (Size{224, 224}));
  EXPECT_DOUBLE_EQ(geometry.scale_x, 384.0 / 601);
  EXPECT_DOUBLE_EQ(geometry.offset_x, -80);
}

TEST(TransformTest, PutsALetterboxIntoTheMiddleOrTheCorner) {
  Transform transform{.fit = Fit::kLetterbox, .size = {64, 64}};
  Geometry geometry = plan(transform, {100, 51});
  EXPECT_EQ(geometry.resized, (Size{64, 33}));  // 32.64
  EXPECT_EQ(geometry.y, 15);
  EXPECT_EQ(geometry.offset_y, 15);
  EXPECT_EQ(geometry.output, (Size{64, 64}));
  transform.pad_evenly = false;
  geometry = plan(transform, {51, 100});
  EXPECT_EQ(geometry.x, 0);
  EXPECT_EQ(geometry.resized, (Size{33, 64}));
}

TEST(TransformTest, FillsTheRestOfALetterboxWithItsColour) {
  const Transform transform{.fit = Fit::kLetterbox,
                            .size = {4, 4},
                            .padding = {1, 2, 3},
                            .tensor = {.layout = Layout::kNhwc}};
  const auto bytes = bytes_of(flat(8, 4, 9), transform);
  EXPECT_THAT(std::vector(bytes.begin(), bytes.begin() + 3), ElementsAre(1, 2, 3));
  EXPECT_THAT(std::vector(bytes.begin() + 12, bytes.begin() + 15), ElementsAre(9, 9, 9));
  EXPECT_THAT(std::vector(bytes.end() - 3, bytes.end()), ElementsAre(1, 2, 3));
  const auto upright = bytes_of(flat(4, 8, 9), transform);
  EXPECT_THAT(std::vector(upright.begin(), upright.begin() + 12),
              ElementsAre(1, 2, 3, 9, 9, 9, 9, 9, 9, 1, 2, 3));
}

TEST(TransformTest, GreysBeforeItResizes) {
  // Red and blue beside each other: the mean of their lumas, not the luma of their mean.
  Image image = flat(2, 1, 0);
  image.row(0)[0] = 255;
  image.row(0)[5] = 255;
  Transform transform{.fit = Fit::kExact,
                      .size = {1, 1},
                      .method = {Filter::kArea, Definition::kPillow},
                      .tensor = {.channels = Channels::kGrey}};
  EXPECT_THAT(bytes_of(image, transform), ElementsAre(53));  // (76 + 29) / 2
  EXPECT_EQ(image.row(0)[0], 255);                           // the caller's pixels are its own
}

TEST(TransformTest, RefusesWhatDoesNotFit) {
  const auto error_of = [](const Transform& transform, Size original) {
    const auto geometry = plan_geometry(transform, original, kMostPixels);
    return geometry ? std::string("planned") : geometry.error().message;
  };
  EXPECT_THAT(error_of({.crop = Size{224, 224}}, {300, 200}),
              HasSubstr("the crop of 224 x 224 is larger than the picture, which is 300 x 200"));
  EXPECT_THAT(
      error_of({.fit = Fit::kShorterSide, .size = {200, 200}, .crop = Size{224, 224}}, {300, 100}),
      HasSubstr("resized to 600 x 200"));
  EXPECT_THAT(error_of({.fit = Fit::kShorterSide, .size = {1000, 1000}}, {1, 1'000'000}),
              HasSubstr("the longer one would have 1000000000"));
  EXPECT_THAT(error_of({.fit = Fit::kShorterSide, .size = {1000, 1000}}, {10, 20'000}),
              HasSubstr("at most 1048576 pixels are made"));
}

TEST(TransformTest, GivesNumbersOfEveryTypeAndLayout) {
  const Image image = testing::noise(37, 5, 4);
  for (const Layout layout : {Layout::kNchw, Layout::kNhwc}) {
    for (const Channels channels : {Channels::kRgb, Channels::kBgr, Channels::kGrey}) {
      TensorSpec spec{.layout = layout,
                      .channels = channels,
                      .mean = {10, 20, 30},
                      .scale = {0.5F, 0.25F, 0.125F}};
      const auto floats = *to_tensor(image, spec);
      spec.type = DataType::kUint8;
      const auto bytes = *to_tensor(image, spec);
      spec.type = DataType::kFp16;
      const auto halves = *to_tensor(image, spec);
      ASSERT_EQ(floats.data.size, bytes.data.size * 4);
      ASSERT_EQ(halves.data.size, bytes.data.size * 2);
      const std::size_t channel_count = channels == Channels::kGrey ? 1 : 3;
      for (std::size_t i = 0; i < bytes.data.size; ++i) {
        const std::size_t c = layout == Layout::kNchw ? i / (37 * 5) : i % channel_count;
        const float wanted =
            (static_cast<float>(bytes.data.data()[i]) - spec.mean[c]) * spec.scale[c];
        EXPECT_EQ(reinterpret_cast<const float*>(floats.data.data())[i], wanted);
        // The numbers have few bits: exact in 16.
        EXPECT_EQ(static_cast<float>(reinterpret_cast<const _Float16*>(halves.data.data())[i]),
                  wanted);
      }
    }
  }
}

template <class Value>
void compare_kernels(const WriterKernels<Value>& fast, const WriterKernels<Value>& plain) {
  std::mt19937 random(5);
  std::vector<std::uint8_t> pixels(300 + 64);
  for (auto& pixel : pixels) pixel = static_cast<std::uint8_t>(random());
  const float mean[3] = {123.675F, 116.28F, 103.53F}, scale[3] = {0.01712F, 0.01751F, 0.01743F};
  float long_mean[24], long_scale[24];
  for (int i = 0; i < 24; ++i) {
    long_mean[i] = mean[i % 3];
    long_scale[i] = scale[i % 3];
  }
  for (int count = 1; count <= 100; ++count) {
    std::vector<Value> a(300), b(300);
    Value* const a_planes[3] = {a.data(), count % 5 == 0 ? nullptr : &a[100], &a[200]};
    Value* const b_planes[3] = {b.data(), count % 5 == 0 ? nullptr : &b[100], &b[200]};
    fast.planes(pixels.data(), count, a_planes, mean, scale);
    plain.planes(pixels.data(), count, b_planes, mean, scale);
    EXPECT_EQ(a, b) << count;
    fast.flat(pixels.data(), 3 * count, a.data(), long_mean, long_scale);
    plain.flat(pixels.data(), 3 * count, b.data(), long_mean, long_scale);
    EXPECT_EQ(a, b) << count;
  }
}

TEST(TransformTest, GivesTheSameNumbersWithEveryKernel) {
  const WriterKernelSet* const fast = avx2_writer_kernels();
  if (fast == nullptr) GTEST_SKIP() << "no AVX2";
  compare_kernels(fast->fp32, plain_writer_kernels().fp32);
  compare_kernels(fast->fp16, plain_writer_kernels().fp16);
}

}  // namespace
}  // namespace proa::image
