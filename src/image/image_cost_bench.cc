// Processor time of preparing pictures, for benchmarks/image_cost.py: reads lines `WHAT COUNT
// FILE`, does it that many times, prints the processor seconds. WHAT:
//   decode   libjpeg-turbo alone, into memory that is there already
//   exact    JPEG -> 224x224 FP32, Pillow's bicubic, as backend image does it
//   crop     the same by shorter side 256 and centre crop 224
//   scaled   exact, with a scaled decode of up to 1/8
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "base/check.h"
#include "image/decode.h"
#include "image/transform.h"
#include "turbojpeg.h"

namespace {

using namespace proa;

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  PROA_CHECK(file.is_open(), path);
  return {std::istreambuf_iterator<char>(file), {}};
}

double decode_alone(const std::string& file, int count) {
  const tjhandle handle = tjInitDecompress();
  const auto* const data = reinterpret_cast<const unsigned char*>(file.data());
  int width = 0, height = 0, subsampling = 0, colours = 0;
  tjDecompressHeader3(handle, data, file.size(), &width, &height, &subsampling, &colours);
  std::vector<unsigned char> pixels(static_cast<std::size_t>(width) * height * 3);
  const double begin = processor_seconds();
  for (int i = 0; i < count; ++i) {
    const int failed = tjDecompress2(handle, data, file.size(), pixels.data(), width, 0, height,
                                     TJPF_RGB, TJFLAG_ACCURATEDCT);
    PROA_CHECK(failed == 0, tjGetErrorStr2(handle));
  }
  const double seconds = processor_seconds() - begin;
  tjDestroy(handle);
  return seconds;
}

double prepare(const std::string& file, int count, const std::string& what) {
  image::Transform transform{.fit = image::Fit::kExact, .size = {224, 224}};
  if (what == "crop") {
    transform.fit = image::Fit::kShorterSide;
    transform.size = {256, 256};
    transform.crop = image::Size{224, 224};
  }
  image::DecodeOptions options;
  if (what == "scaled") {
    options.jpeg_reduction = [](image::Size size) {
      int by = 8;
      while (by > 1 && (size.width / by < 224 || size.height / by < 224)) by /= 2;
      return by;
    };
  }
  const double begin = processor_seconds();
  for (int i = 0; i < count; ++i) {
    auto decoded = image::decode_picture(std::as_bytes(std::span(file)), options);
    PROA_CHECK(decoded.has_value(), decoded.error().message);
    const auto geometry =
        image::plan_geometry(transform, decoded->original, options.limits.max_pixels);
    PROA_CHECK(geometry.has_value(), geometry.error().message);
    const Buffer tensor = host_memory().allocate(224 * 224 * 3 * sizeof(float));
    image::transform_into(std::move(decoded->image), transform, *geometry, tensor.data());
  }
  return processor_seconds() - begin;
}

}  // namespace

int main() {
  std::string what, path;
  int count = 0;
  while (std::cin >> what >> count >> path) {
    const std::string file = read_file(path);
    std::cout << (what == "decode" ? decode_alone(file, count) : prepare(file, count, what))
              << std::endl;
  }
}
