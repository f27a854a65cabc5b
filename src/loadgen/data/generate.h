#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/result.h"
#include "loadgen/data/element.h"

namespace proa::loadgen {

// What made-up string elements hold.
struct StringFill {
  std::string text;          // each of them; "": letters and digits by chance
  std::size_t length = 128;  // of those
};

// Random tensors: floating-point numbers in [0, 1), UINT8 0..255, other integers 0..99, BOOL 0 or
// 1. The same on every machine for the same seed.
// Threading: confined to one thread.
class RandomFill {
 public:
  RandomFill(std::uint64_t seed, StringFill strings)
      : random_(seed), strings_(std::move(strings)) {}

  // `shape` is fully known. Errors: kInvalidArgument when the size overflows.
  Result<Tensor> make(DataType type, const Shape& shape);

 private:
  void append_element(DataType type, std::string& bytes);
  std::string make_text();

  std::mt19937_64 random_;
  StringFill strings_;
};

// Zeros, or empty strings (StringFill::text where it is given).
Result<Tensor> make_zeros(DataType type, const Shape& shape, const std::string& text);

}  // namespace proa::loadgen
