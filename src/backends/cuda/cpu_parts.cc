#include <algorithm>
#include <array>
#include <chrono>

#include "backends/cuda/sample.h"
#include "backends/cuda/split.h"
#include "backends/openvino/guard.h"
#include "openvino/core/model.hpp"
#include "openvino/runtime/infer_request.hpp"

namespace proa::backends::cuda {
namespace {

double median_run_us(ov::CompiledModel& compiled, const SampleRow& row) {
  ov::InferRequest request = compiled.create_infer_request();
  for (std::size_t port = 0; port < row.size(); ++port) request.set_input_tensor(port, row[port]);
  request.infer();  // the first one prepares
  std::array<double, 5> times;
  for (double& time : times) {
    const auto begin = std::chrono::steady_clock::now();
    request.infer();
    time =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

}  // namespace

Result<std::vector<ov::CompiledModel>> compile_cpu_parts(
    SplitModel& split, openvino::Runtime& runtime, const openvino::Runtime::Options& options) {
  std::vector<ov::CompiledModel> compiled(split.parts.size());
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    Part& part = split.parts[i];
    if (part.side == Side::kGpu) continue;
    PROA_ASSIGN(compiled[i], runtime.compile(part.model, options));
    PROA_TRY(openvino::guarded(ErrorCode::kInternal, "a part on the CPU failed", [&] {
      part.row_us = median_run_us(compiled[i], random_row(*part.model, 1));
    }));
  }
  return compiled;
}

}  // namespace proa::backends::cuda
