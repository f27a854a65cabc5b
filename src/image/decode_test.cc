#include "image/decode.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "image/testing/cases.h"

namespace proa::image {
namespace {

using testing::cases_folder;
using ::testing::HasSubstr;
using testing::largest_difference;
using testing::read_bytes;
using testing::read_ppm;

// The colour conversion of lossy formats may round differently from one library version to the
// next.
constexpr int kLossyTolerance = 1;

TEST(DecodeTest, GivesThePixelsOfEveryCase) {
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cases_folder())) {
    const std::string extension = entry.path().extension();
    if (!entry.path().stem().string().starts_with("decode_") || extension == ".ppm") continue;
    ++cases;
    const auto image = decode(read_bytes(entry.path()));
    ASSERT_TRUE(image) << entry.path() << ": " << image.error().message;
    const Image wanted = read_ppm(std::filesystem::path(entry.path()).replace_extension(".ppm"));
    EXPECT_LE(largest_difference(*image, wanted), extension == ".png" ? 0 : kLossyTolerance)
        << entry.path();
  }
  EXPECT_GE(cases, 25);
}

std::string refusal(const std::string& bytes, const DecodeLimits& limits = {}) {
  const auto image = decode(std::as_bytes(std::span(bytes)), limits);
  return image ? "decoded" : image.error().message;
}

TEST(DecodeTest, NamesFormatsThatItCannotRead) {
  EXPECT_THAT(refusal("GIF89a"), HasSubstr("GIF"));
  EXPECT_THAT(refusal("RIFFsizeWEBPVP8 "), HasSubstr("WebP picture is damaged"));
  EXPECT_THAT(refusal("\xff\xd8\xff and so on"), HasSubstr("JPEG picture is damaged"));
  EXPECT_THAT(refusal("hello"), HasSubstr("5 bytes"));
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
}

TEST(DecodeTest, RefusesMorePixelsThanAllowed) {
  for (const char* name : {"decode_colour.jpg", "decode_rgb.png", "decode_lossy.webp"}) {
    const auto file = read_bytes(cases_folder() / name);
    const auto image = decode(file, {.max_pixels = 100});
    ASSERT_FALSE(image) << name;
    EXPECT_THAT(image.error().message, HasSubstr("at most 100 pixels"));
  }
  // A header that announces 4 billion pixels in a file of 60 bytes.
  std::string bomb = "\x89PNG\r\n\x1a\n";
  bomb += std::string("\0\0\0\x0dIHDR\0\0\xff\xff\0\0\xff\xff\x08\x02\0\0\0", 21);
  bomb.append("\xa7\x2a\x5f\xbf", 4);
  bomb.append("\0\0\0\0IEND\xae\x42\x60\x82", 12);
  EXPECT_NE(refusal(bomb), "decoded");
}

TEST(DecodeTest, RefusesFilesThatAreCutShort) {
  for (const char* name : {"decode_colour.jpg", "decode_progressive.jpg", "decode_rgb.png",
                           "decode_palette.png", "decode_lossy.webp", "decode_lossless.webp"}) {
    auto file = read_bytes(cases_folder() / name);
    file.resize(file.size() * 3 / 4);
    const auto image = decode(file);
    ASSERT_FALSE(image) << name;
    EXPECT_THAT(image.error().message, HasSubstr("damaged"));
  }
}

TEST(DecodeTest, RefusesLongFilesAndBombs) {
  const auto file = read_bytes(cases_folder() / "decode_rgb.png");
  auto image = decode(file, {.max_file_bytes = 50});
  ASSERT_FALSE(image);
  EXPECT_THAT(image.error().message, HasSubstr("at most 50 are read"));
  // 16383 x 4096 pixels of one colour, in 40 bytes.
  const auto bomb = read_bytes(cases_folder() / "bomb.webp");
  image = decode(bomb, {.max_pixels = 100'000'000});
  ASSERT_FALSE(image);
  EXPECT_THAT(image.error().message, HasSubstr("at most 2000 are unpacked"));
  EXPECT_TRUE(decode(bomb, {.max_pixels = 100'000'000, .max_ratio = 100'000'000}));
}

TEST(DecodeTest, RefusesMoreScansThanAnyPictureNeeds) {
  auto file = read_bytes(cases_folder() / "decode_progressive.jpg");
  ASSERT_TRUE(decode(file));
  const auto scan = std::ranges::search(file, std::array{std::byte{0xff}, std::byte{0xda}});
  const std::vector<std::byte> last(scan.begin(), file.end() - 2);
  for (int i = 0; i < 100; ++i) file.insert(file.end() - 2, last.begin(), last.end());
  const auto image = decode(file);
  ASSERT_FALSE(image);
  EXPECT_THAT(image.error().message, HasSubstr("scans; at most 100 are read"));
}

TEST(DecodeTest, ReducesJpegsWhileItDecodes) {
  const auto file = read_bytes(cases_folder() / "decode_orientation_6.jpg");  // 23 x 14, turned
  for (const int by : {1, 2, 4, 8}) {
    Size asked;
    const auto decoded = decode_picture(file, {.jpeg_reduction = [&](Size original) {
                                          asked = original;
                                          return by;
                                        }});
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(asked, (Size{14, 23}));
    EXPECT_EQ(decoded->original, (Size{14, 23}));
    EXPECT_EQ(decoded->image.width, (14 + by - 1) / by);
    EXPECT_EQ(decoded->image.height, (23 + by - 1) / by);
  }
}

// Under the sanitizers this finds reads and writes out of bounds; here it must only end.
TEST(DecodeTest, SurvivesDamagedFiles) {
  std::mt19937 random(7);
  for (const auto& entry : std::filesystem::directory_iterator(cases_folder())) {
    if (entry.path().extension() == ".ppm") continue;
    const auto whole = read_bytes(entry.path());
    for (int round = 0; round < 40; ++round) {
      auto file = whole;
      for (int flips = 0; flips < 3; ++flips) {
        file[random() % file.size()] ^= static_cast<std::byte>(1U << random() % 8);
      }
      const auto image = decode(file, {.max_pixels = 1 << 20});
      EXPECT_TRUE(image.has_value() || !image.error().message.empty());
    }
  }
}

}  // namespace
}  // namespace proa::image
