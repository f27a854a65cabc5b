#include "image/testing/cases.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "base/check.h"
#include "base/testing/source_path.h"

namespace proa::image::testing {

std::filesystem::path cases_folder() { return source_path("src/image/testing/cases"); }

std::vector<std::byte> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

Image read_ppm(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  int width = 0, height = 0, highest = 0;
  file >> magic >> width >> height >> highest;
  file.get();
  PROA_CHECK(magic == "P6" && highest == 255, path.string());
  Image image = make_image(width, height);
  file.read(reinterpret_cast<char*>(image.pixels.data()),
            static_cast<std::streamsize>(image.pixels.size()));
  PROA_CHECK(file.good(), path.string());
  return image;
}

Image noise(int width, int height, unsigned seed) {
  std::mt19937 random(seed);
  Image image = make_image(width, height);
  for (std::byte& value : image.pixels.bytes()) value = static_cast<std::byte>(random());
  return image;
}

int largest_difference(const Image& a, const Image& b) {
  if (a.width != b.width || a.height != b.height) return 256;
  int largest = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<int>(a.pixels.data()[i]) -
                                         static_cast<int>(b.pixels.data()[i])));
  }
  return largest;
}

}  // namespace proa::image::testing
