#include "image/writer_kernels.h"

#include <bit>

namespace proa::image {
namespace {

void put(float value, float& to) { to = value; }
void put(float value, std::uint16_t& to) {
  to = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
}

template <class Value>
void plain_planes(const std::uint8_t* rgb, int pixels, Value* const to[3], const float mean[3],
                  const float scale[3]) {
  for (int c = 0; c < 3; ++c) {
    if (to[c] == nullptr) continue;
    for (int i = 0; i < pixels; ++i) {
      put((static_cast<float>(rgb[3 * i + c]) - mean[c]) * scale[c], to[c][i]);
    }
  }
}

template <class Value>
void plain_flat(const std::uint8_t* bytes, int count, Value* to, const float mean[24],
                const float scale[24]) {
  for (int i = 0; i < count; ++i) {
    put((static_cast<float>(bytes[i]) - mean[i % 24]) * scale[i % 24], to[i]);
  }
}

}  // namespace

const WriterKernelSet& plain_writer_kernels() {
  static constexpr WriterKernelSet kPlain{{plain_planes<float>, plain_flat<float>},
                                          {plain_planes<std::uint16_t>, plain_flat<std::uint16_t>}};
  return kPlain;
}

const WriterKernelSet& writer_kernels() {
  static const WriterKernelSet* const vector = avx2_writer_kernels();
  return vector != nullptr ? *vector : plain_writer_kernels();
}

}  // namespace proa::image
