#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace proa {

// BYTES tensors: each element is a 4-byte little-endian length and that many bytes, row-major.
// Source: KServe v2 binary tensor data extension.

// Checks that `data` holds exactly `count` elements.
// Errors: kInvalidArgument naming the element that is cut short, or the number of elements that
// came.
Status check_bytes_elements(std::span<const std::byte> data, std::int64_t count);

// Views of the elements, valid as long as `data`. Same errors as check_bytes_elements.
Result<std::vector<std::string_view>> read_bytes_elements(std::span<const std::byte> data,
                                                          std::int64_t count);

// The byte length of the first `count` elements of checked `data`.
std::size_t bytes_elements_length(std::span<const std::byte> data, std::int64_t count);

// Appends one element to `out`.
void append_bytes_element(std::string& out, std::string_view element);

}  // namespace proa
