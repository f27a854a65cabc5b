#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "tensor/tensor.h"

namespace proa::protocol {

// The classification extension: the `count` largest elements of `output`, each as the BYTES element
// "value:index" or "value:index:label", largest first; equal values in the order of their indexes,
// NaN after everything else. Floating-point values have six decimals, as Triton prints them.
//
// When `batches`, the first extent is the batch and each of its rows is ranked for itself: the
// result is [batch, k]; otherwise [k]. k = min(count, elements of a row). `labels[index]` names a
// class; indexes beyond it go without a label.
//
// Errors: kInvalidArgument when the output is BYTES, when `batches` and it has no first extent, and
// when the result would have more than kMaxClassifications elements.
// Source: Triton's classification extension.
Result<Tensor> classify(const Tensor& output, std::uint32_t count,
                        std::span<const std::string> labels, bool batches);

inline constexpr std::int64_t kMaxClassifications = 1'000'000;

}  // namespace proa::protocol
