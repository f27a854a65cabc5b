#include "image/resize.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <random>

#include "gtest/gtest.h"
#include "image/resample_kernels.h"
#include "image/resize_pillow.h"
#include "image/testing/cases.h"

namespace proa::image {
namespace {

// Puts the rows that it gets one below the other.
RowSink into(Image& image) {
  return [&image](int y, const std::uint8_t* row) {
    std::memcpy(image.row(y), row, image.row_bytes());
  };
}

Image whole(const Image& source, Size to, const Method& method) {
  Image result = make_image(to.width, to.height);
  resize_rows(source, to, {0, 0, to.width, to.height}, method, into(result));
  return result;
}

Image whole_by(const Image& source, Size to, Filter filter, const ResampleKernels& kernels) {
  if (to == Size{source.width, source.height}) return source;
  Image result = make_image(to.width, to.height);
  resize_pillow(source, to, {0, 0, to.width, to.height}, filter, into(result), kernels);
  return result;
}

Image corner(const Image& source, int width, int height) {
  Image result = make_image(width, height);
  for (int y = 0; y < height; ++y) std::memcpy(result.row(y), source.row(y), result.row_bytes());
  return result;
}

std::optional<Filter> filter_named(const std::string& name) {
  if (name == "nearest") return Filter::kNearest;
  if (name == "bilinear") return Filter::kBilinear;
  if (name == "bicubic") return Filter::kBicubic;
  if (name == "area") return Filter::kArea;
  return std::nullopt;
}

// Resizes `source` as each case PREFIX_FILTER_WIDTHxHEIGHT.ppm says; the number of cases.
int check_cases(const std::string& prefix, const Image& source, Definition definition,
                const std::function<int(Filter)>& tolerance) {
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(testing::cases_folder())) {
    const std::string name = entry.path().stem();
    char word[16];
    Size to;
    if (!name.starts_with(prefix) || std::sscanf(name.c_str() + prefix.size(), "_%15[a-z]_%dx%d",
                                                 word, &to.width, &to.height) != 3) {
      continue;
    }
    ++cases;
    const auto filter = filter_named(word);
    if (!filter) {
      ADD_FAILURE() << name;
      continue;
    }
    const Image got = whole(source, to, {*filter, definition});
    EXPECT_LE(testing::largest_difference(got, testing::read_ppm(entry.path())), tolerance(*filter))
        << name;
  }
  return cases;
}

TEST(ResizeTest, GivesPillowsBytes) {
  const Image source = testing::read_ppm(testing::cases_folder() / "resize_source.ppm");
  EXPECT_GE(check_cases("resize", source, Definition::kPillow, [](Filter) { return 0; }), 20);
}

// OpenCV's bicubic adds numbers at the end of a row in another order than in its middle.
int opencv_tolerance(Filter filter) { return filter == Filter::kBicubic ? 1 : 0; }

TEST(ResizeTest, GivesOpenCvsBytes) {
  const Image source = testing::read_ppm(testing::cases_folder() / "resize_source.ppm");
  EXPECT_GE(check_cases("opencv", source, Definition::kOpenCv, opencv_tolerance), 20);
  EXPECT_GE(
      check_cases("opencv_even", corner(source, 60, 42), Definition::kOpenCv, opencv_tolerance),
      16);
}

TEST(ResizeTest, ComputesAWindowAsThePartOfTheWhole) {
  const Image source = testing::noise(61, 43, 1);
  for (const Definition definition : {Definition::kPillow, Definition::kOpenCv}) {
    for (const Filter filter :
         {Filter::kNearest, Filter::kBilinear, Filter::kBicubic, Filter::kArea}) {
      for (const Size to : {Size{20, 17}, Size{61, 20}, Size{33, 43}, Size{90, 20}, Size{70, 88}}) {
        const Method method{filter, definition};
        const Image all = whole(source, to, method);
        const Window window{to.width / 3, to.height / 4, to.width / 2, to.height / 2};
        resize_rows(source, to, window, method, [&](int y, const std::uint8_t* row) {
          const std::uint8_t* const wanted = all.row(window.y + y) + window.x * Image::kChannels;
          EXPECT_EQ(std::memcmp(row, wanted, window.width * Image::kChannels), 0)
              << to.width << "x" << to.height << " row " << y;
        });
      }
    }
  }
}

void expect_the_plain_bytes(const ResampleKernels* kernels) {
  if (kernels == nullptr) GTEST_SKIP() << "not on this processor";
  std::mt19937 random(3);
  const auto side = [&] { return static_cast<int>(random() % 70 + 1); };
  for (int round = 0; round < 200; ++round) {
    const Image source = testing::noise(side(), side(), round);
    const Size to{side(), side()};
    const Filter filter = std::array{Filter::kBilinear, Filter::kBicubic, Filter::kArea}[round % 3];
    const Image fast = whole_by(source, to, filter, *kernels);
    const Image plain = whole_by(source, to, filter, plain_resample_kernels());
    EXPECT_EQ(testing::largest_difference(fast, plain), 0)
        << source.width << "x" << source.height << " to " << to.width << "x" << to.height;
  }
}

TEST(ResizeTest, GivesTheSameBytesWithAvx2) { expect_the_plain_bytes(avx2_resample_kernels()); }
TEST(ResizeTest, GivesTheSameBytesWithVnni) { expect_the_plain_bytes(vnni_resample_kernels()); }

TEST(ResizeTest, KeepsProportionsOfTheLongerSide) {
  const Image wide = resize_short_side(make_image(601, 400), 256, Filter::kBilinear);
  EXPECT_EQ(wide.width, 384);  // 384.64
  EXPECT_EQ(wide.height, 256);
  const Image thin = resize_short_side(make_image(1, 1000), 2, Filter::kBilinear);
  EXPECT_EQ(thin.width, 2);
  EXPECT_EQ(thin.height, 2000);
}

Image numbered(int width, int height) {
  Image image = make_image(width, height);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels.data()[i] = static_cast<std::byte>(i + 1);
  }
  return image;
}

TEST(ResizeTest, CropsTheCentre) {
  const Image crop = centre_crop(numbered(5, 4), 2, 2);
  // (5 - 2) / 2 = 1.5 -> 2, (4 - 2) / 2 = 1.
  EXPECT_EQ(crop.row(0)[0], (1 * 5 + 2) * 3 + 1);
  EXPECT_EQ(crop.row(1)[5], (2 * 5 + 3) * 3 + 3);
}

TEST(ResizeTest, FillsUpWithBlackWhatTheImageLacks) {
  const Image crop = centre_crop(numbered(1, 1), 3, 3);
  EXPECT_EQ(crop.row(1)[3], 1);
  EXPECT_EQ(crop.row(1)[0], 0);
  EXPECT_EQ(crop.row(0)[3], 0);
  EXPECT_EQ(crop.row(2)[8], 0);
}

}  // namespace
}  // namespace proa::image
