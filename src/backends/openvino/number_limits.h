#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tensor/data_type.h"

namespace ov {
class Model;
}

namespace proa::backends::openvino {

// OpenVINO computes INT64, UINT64 and UINT32 on the CPU as INT32, and FP64 as FP32; what does not
// fit becomes another number without an error (3000000000 -> -1294967296, infinity -> 3.4e38).

// An error (kInvalidArgument) that names the first value of `bytes`, elements of `type`, that does
// not fit. Other types always fit. One pass at the speed of memory when all fit.
Status check_numbers_fit(DataType type, std::span<const std::byte> bytes);

// Whether input `port` of the model must be checked: false for types that fit, and for integers
// that only go into conversions to FP32 or straight to an output.
bool is_narrowed(const ov::Model& model, std::size_t port);

// What a request's check cannot see, one sentence each: constants that do not fit, integer outputs
// that arithmetic makes, FP64. Integers of 2^62 and more in a constant stand for "to the end" and
// are not told.
std::vector<std::string> narrowing_warnings(const ov::Model& model);

}  // namespace proa::backends::openvino
