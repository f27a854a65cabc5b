#pragma once

#include <cstdint>

namespace proa::image {

// (value - mean) * scale of bytes, written as 32-bit or 16-bit floating point numbers. The inner
// loops of TensorWriter. `Value`: float, or std::uint16_t for IEEE binary16 (rounded to even).
// Every set gives the same numbers.
template <class Value>
struct WriterKernels {
  // Splits `pixels` RGB pixels into three planes; a null plane is left out. Reads up to 32 bytes
  // behind the pixels.
  void (*planes)(const std::uint8_t* rgb, int pixels, Value* const to[3], const float mean[3],
                 const float scale[3]);
  // Bytes one after the other; mean and scale repeat every 24 bytes. Reads up to 32 bytes further.
  void (*flat)(const std::uint8_t* bytes, int count, Value* to, const float mean[24],
               const float scale[24]);
};

struct WriterKernelSet {
  WriterKernels<float> fp32;
  WriterKernels<std::uint16_t> fp16;
};

// As in resample_kernels.h.
const WriterKernelSet& plain_writer_kernels();
const WriterKernelSet* avx2_writer_kernels();
const WriterKernelSet& writer_kernels();

}  // namespace proa::image
