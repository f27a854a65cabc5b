#include "image/decode.h"

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

// JPEG's colour conversion may round differently from one library version to the next.
constexpr int kJpegTolerance = 1;

TEST(DecodeTest, GivesThePixelsOfEveryCase) {
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cases_folder())) {
    const std::string extension = entry.path().extension();
    if (extension != ".jpg" && extension != ".png") continue;
    ++cases;
    const auto image = decode(read_bytes(entry.path()));
    ASSERT_TRUE(image) << entry.path() << ": " << image.error().message;
    const Image wanted = read_ppm(std::filesystem::path(entry.path()).replace_extension(".ppm"));
    EXPECT_LE(largest_difference(*image, wanted), extension == ".jpg" ? kJpegTolerance : 0)
        << entry.path();
  }
  EXPECT_GE(cases, 20);
}

std::string refusal(const std::string& bytes, const DecodeLimits& limits = {}) {
  const auto image = decode(std::as_bytes(std::span(bytes)), limits);
  return image ? "decoded" : image.error().message;
}

TEST(DecodeTest, NamesFormatsThatItCannotRead) {
  EXPECT_THAT(refusal("GIF89a"), HasSubstr("GIF"));
  EXPECT_THAT(refusal(std::string("RIFF\0\0\0\0WEBPVP8 ", 16)), HasSubstr("WebP"));
  EXPECT_THAT(refusal("hello"), HasSubstr("5 bytes"));
  EXPECT_THAT(refusal(""), HasSubstr("0 bytes"));
}

TEST(DecodeTest, RefusesMorePixelsThanAllowed) {
  for (const char* name : {"decode_colour.jpg", "decode_rgb.png"}) {
    const auto file = read_bytes(cases_folder() / name);
    const auto image = decode(file, {.max_pixels = 100});
    ASSERT_FALSE(image) << name;
    EXPECT_THAT(image.error().message, HasSubstr("at most 100 pixels"));
  }
  // A header that announces 4 billion pixels in a file of 60 bytes.
  std::string bomb = "\x89PNG\r\n\x1a\n";
  bomb += std::string("\0\0\0\x0dIHDR\0\0\xff\xff\0\0\xff\xff\x08\x02\0\0\0", 21);
  bomb += std::string("\xa7\x2a\x5f\xbf", 4) + std::string("\0\0\0\0IEND\xae\x42\x60\x82", 12);
  EXPECT_NE(refusal(bomb), "decoded");
}

TEST(DecodeTest, RefusesFilesThatAreCutShort) {
  for (const char* name :
       {"decode_colour.jpg", "decode_progressive.jpg", "decode_rgb.png", "decode_palette.png"}) {
    auto file = read_bytes(cases_folder() / name);
    file.resize(file.size() * 3 / 4);
    const auto image = decode(file);
    ASSERT_FALSE(image) << name;
    EXPECT_THAT(image.error().message, HasSubstr("damaged"));
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
