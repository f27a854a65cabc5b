#pragma once

#include <set>
#include <span>
#include <string>

#include "backends/cuda/sample.h"
#include "backends/openvino/runtime.h"
#include "base/result.h"

namespace ov {
class Model;
}

namespace proa::backends::cuda {

// Numbers above this share of FP16's largest do not count as fitting: other inputs than the
// samples give other numbers.
inline constexpr float kHalfHeadroom = 0.25f;

// The names of the nodes and tensors of `model` whose results do not fit FP16: it runs in FP32 on
// the CPU over the rows and every result is looked at. Shapes may be open in front only.
// Errors: those of the CPU.
Result<std::set<std::string, std::less<>>> find_overflows(openvino::Runtime& runtime,
                                                          const ov::Model& model,
                                                          std::span<const SampleRow> rows,
                                                          int processors);

}  // namespace proa::backends::cuda
