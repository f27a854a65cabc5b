#include "image/orientation.h"

#include <string>

#include "gtest/gtest.h"

namespace proa::image {
namespace {

Orientation of(const std::string& exif) { return exif_orientation(std::as_bytes(std::span(exif))); }

// TIFF header, one directory at 8 with `entries` entries, the last of them `orientation`.
std::string exif(bool big_endian, char orientation) {
  return big_endian ? std::string("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0", 19) +
                          orientation + std::string("\0\0\0\0\0\0", 6)
                    : std::string("II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0", 18) +
                          orientation + std::string("\0\0\0\0\0\0\0", 7);
}

TEST(OrientationTest, ReadsBothByteOrders) {
  EXPECT_EQ(of(exif(true, 6)), Orientation::kTurnedLeft);
  EXPECT_EQ(of(exif(false, 8)), Orientation::kTurnedRight);
}

TEST(OrientationTest, TakesNonsenseAsUpright) {
  EXPECT_EQ(of(""), Orientation::kUpright);
  EXPECT_EQ(of(exif(true, 9)), Orientation::kUpright);
  EXPECT_EQ(of(exif(true, 0)), Orientation::kUpright);
  for (std::size_t length = 0; length < 19; ++length) {
    EXPECT_EQ(of(exif(true, 6).substr(0, length)), Orientation::kUpright) << length;
  }
  EXPECT_EQ(of(std::string("MM\0*\xff\xff\xff\xff", 8)), Orientation::kUpright);
}

TEST(OrientationTest, FindsTheSegmentOfAJpeg) {
  const std::string block = std::string("Exif\0\0", 6) + exif(true, 3);
  const std::string file = std::string("\xff\xd8\xff\xe0\0\x04zz\xff\xe1\0", 11) +
                           static_cast<char>(block.size() + 2) + block;
  EXPECT_EQ(jpeg_orientation(std::as_bytes(std::span(file))), Orientation::kUpsideDown);
  for (std::size_t length = 0; length < file.size(); ++length) {
    (void)jpeg_orientation(std::as_bytes(std::span(file)).first(length));
  }
}

}  // namespace
}  // namespace proa::image
