#include "backends/openvino/settings.h"

#include <string_view>

#include "base/text.h"

namespace proa::backends::openvino {
namespace {

Result<int> parse_between(std::string_view key, std::string_view value, int smallest, int largest) {
  const auto number = parse_number<int>(value);
  if (!number || *number < smallest || *number > largest) {
    return error::invalid_argument("parameter {} is '{}', wanted a number from {} to {}", key,
                                   value, smallest, largest);
  }
  return *number;
}

Result<Precision> parse_precision(std::string_view key, std::string_view value) {
  const std::string name = lower_case(value);
  if (name == "f32" || name == "fp32") return Precision::kF32;
  if (name == "bf16") return Precision::kBf16;
  if (name == "f16" || name == "fp16") return Precision::kF16;
  return error::invalid_argument("parameter {} is '{}', wanted f32, bf16 or f16", key, value);
}

Result<core::Execution> parse_execution(std::string_view key, std::string_view value) {
  const std::string name = lower_case(value);
  if (name == "blocking") return core::Execution::kBlocking;
  if (name == "inline") return core::Execution::kInline;
  return error::invalid_argument("parameter {} is '{}', wanted blocking or inline", key, value);
}

}  // namespace

Result<Settings> parse_settings(const config::ModelConfig& config,
                                std::vector<std::string>& unknown_keys) {
  constexpr int kMostThreads = 1024;
  constexpr int kLongestWarmUpMs = 600'000;
  Settings settings;
  if (config.half_precision) settings.precision = Precision::kF16;
  for (const auto& [key, value] : config.parameters) {
    // Triton's OpenVINO backend writes its keys in capitals.
    const std::string name = lower_case(key);
    if (name == "inference_precision" || name == "inference_precision_hint") {
      PROA_ASSIGN(settings.precision, parse_precision(key, value));
    } else if (name == "inference_num_threads" || name == "intra_op_thread_count") {
      PROA_ASSIGN(settings.threads, parse_between(key, value, 0, kMostThreads));
    } else if (name == "execution") {
      PROA_ASSIGN(settings.execution, parse_execution(key, value));
    } else if (name == "warm_up_ms") {
      PROA_ASSIGN(settings.warm_up_ms, parse_between(key, value, 0, kLongestWarmUpMs));
    } else {
      unknown_keys.push_back(key);
    }
  }
  return settings;
}

}  // namespace proa::backends::openvino
