#include "backends/openvino/settings.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace proa::backends::openvino {
namespace {

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

Result<int> parse_number(std::string_view key, std::string_view value, int smallest, int largest) {
  int number = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (failure != std::errc{} || end != value.data() + value.size() || number < smallest ||
      number > largest) {
    return error::invalid_argument("parameter {} is '{}', wanted a number from {} to {}", key,
                                   value, smallest, largest);
  }
  return number;
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

Result<Settings> parse_settings(const std::map<std::string, std::string>& parameters,
                                std::vector<std::string>& unknown_keys) {
  constexpr int kMostThreads = 1024;
  constexpr int kLongestWarmUpMs = 600'000;
  Settings settings;
  for (const auto& [key, value] : parameters) {
    // Triton's OpenVINO backend writes its keys in capitals.
    const std::string name = lower_case(key);
    if (name == "inference_precision" || name == "inference_precision_hint") {
      PROA_ASSIGN(settings.precision, parse_precision(key, value));
    } else if (name == "inference_num_threads" || name == "intra_op_thread_count") {
      PROA_ASSIGN(settings.threads, parse_number(key, value, 0, kMostThreads));
    } else if (name == "execution") {
      PROA_ASSIGN(settings.execution, parse_execution(key, value));
    } else if (name == "warm_up_ms") {
      PROA_ASSIGN(settings.warm_up_ms, parse_number(key, value, 0, kLongestWarmUpMs));
    } else {
      unknown_keys.push_back(key);
    }
  }
  return settings;
}

}  // namespace proa::backends::openvino
