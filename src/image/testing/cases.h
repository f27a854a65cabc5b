#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "image/image.h"

namespace proa::image::testing {

// Files of testing/cases (testing/make_cases.py says what they are).
std::filesystem::path cases_folder();
std::vector<std::byte> read_bytes(const std::filesystem::path& path);
// A binary PPM (P6, 255).
Image read_ppm(const std::filesystem::path& path);
// Pixels without any order, the same for the same seed.
Image noise(int width, int height, unsigned seed);
// The largest difference between two channels at the same place; 256 when the sizes differ.
int largest_difference(const Image& a, const Image& b);

}  // namespace proa::image::testing
