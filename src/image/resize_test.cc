#include "image/resize.h"

#include <cstdio>

#include "gtest/gtest.h"
#include "image/testing/cases.h"

namespace proa::image {
namespace {

TEST(ResizeTest, GivesPillowsBytes) {
  const Image source = testing::read_ppm(testing::cases_folder() / "resize_source.ppm");
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(testing::cases_folder())) {
    const std::string name = entry.path().stem();
    int width = 0, height = 0;
    char filter[16];
    if (std::sscanf(name.c_str(), "resize_%15[a-z]_%dx%d", filter, &width, &height) != 3) continue;
    ++cases;
    const Image got =
        resize(source, width, height,
               std::string(filter) == "bicubic" ? Filter::kBicubic : Filter::kBilinear);
    EXPECT_EQ(testing::largest_difference(got, testing::read_ppm(entry.path())), 0) << name;
  }
  EXPECT_GE(cases, 10);
}

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
