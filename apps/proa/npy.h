#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tensor/tensor.h"

namespace proa {

// NumPy's .npy files, versions 1 to 3, little-endian numbers; Fortran order is read, C order
// written.
// Source: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

// Reads what a file holds. Errors: kInvalidArgument with what is not understood (objects and
// strings, big-endian numbers, sizes that do not fit).
Result<Tensor> parse_npy(std::string_view file);

// The bytes of a file with that tensor. BF16 goes as its bits (uint16), which NumPy has no type
// for. Errors: kInvalidArgument for BYTES.
Result<std::string> format_npy(const Tensor& tensor);

Result<Tensor> read_npy(const std::filesystem::path& path);
Status write_npy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace proa
