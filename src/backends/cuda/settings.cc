#include "backends/cuda/settings.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/text.h"

namespace proa::backends::cuda {
namespace {

constexpr std::int64_t kLargestBucket = 4096;

Result<engine::Precision> parse_precision(std::string_view key, std::string_view value) {
  const std::string name = lower_case(value);
  if (name == "f32" || name == "fp32") return engine::Precision::kFp32;
  if (name == "tf32") return engine::Precision::kTf32;
  if (name == "f16" || name == "fp16") return engine::Precision::kFp16;
  return error::invalid_argument("parameter {} is '{}', wanted f32, tf32 or f16", key, value);
}

Result<bool> parse_tuning(std::string_view key, std::string_view value) {
  const std::string name = lower_case(value);
  if (name == "measured") return true;
  if (name == "first") return false;
  return error::invalid_argument("parameter {} is '{}', wanted measured or first", key, value);
}

Result<bool> parse_placement(std::string_view key, std::string_view value) {
  const std::string name = lower_case(value);
  if (name == "cost") return true;
  if (name == "all") return false;
  return error::invalid_argument("parameter {} is '{}', wanted cost or all", key, value);
}

// "1,8,64"
Result<std::vector<std::int64_t>> parse_buckets(std::string_view key, std::string_view value) {
  std::set<std::int64_t> sizes;
  for (std::string_view rest = value; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const auto number = parse_number<std::int64_t>(rest.substr(0, comma));
    if (!number || *number < 1 || *number > kLargestBucket) {
      return error::invalid_argument(
          "parameter {} is '{}', wanted batch sizes from 1 to {} such as 1,8,64", key, value,
          kLargestBucket);
    }
    sizes.insert(*number);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return std::vector<std::int64_t>(sizes.begin(), sizes.end());
}

Result<bool> parse_bool(std::string_view key, std::string_view value) {
  const std::string name = lower_case(value);
  if (name == "true" || name == "1") return true;
  if (name == "false" || name == "0") return false;
  return error::invalid_argument("parameter {} is '{}', wanted true or false", key, value);
}

// "Softmax,TopK"
std::set<std::string, std::less<>> parse_names(std::string_view value) {
  std::set<std::string, std::less<>> names;
  for (std::string_view rest = value; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view name = trim(rest.substr(0, comma));
    if (!name.empty()) names.emplace(name);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return names;
}

Result<int> parse_count(std::string_view key, std::string_view value, std::string_view what) {
  const auto number = parse_number<int>(value);
  if (number && *number >= 1) return *number;
  return error::invalid_argument("parameter {} is '{}', wanted a number of {} from 1", key, value,
                                 what);
}

}  // namespace

Result<Settings> parse_settings(const config::ModelConfig& config,
                                std::vector<std::string>& unknown_keys) {
  Settings settings;
  if (config.half_precision) settings.precision = engine::Precision::kFp16;
  for (const auto& [key, value] : config.parameters) {
    const std::string name = lower_case(key);
    if (name == "inference_precision" || name == "inference_precision_hint") {
      PROA_ASSIGN(settings.precision, parse_precision(key, value));
    } else if (name == "gpu_tuning") {
      PROA_ASSIGN(settings.tune, parse_tuning(key, value));
    } else if (name == "gpu_buckets") {
      PROA_ASSIGN(settings.buckets, parse_buckets(key, value));
    } else if (name == "min_cluster_ops") {
      PROA_ASSIGN(settings.placement.min_cluster_ops, parse_count(key, value, "operators"));
    } else if (name == "gpu_placement") {
      PROA_ASSIGN(settings.placement.by_cost, parse_placement(key, value));
    } else if (name == "cpu_operators") {
      settings.placement.cpu_operators = parse_names(value);
    } else if (name == "cpu_nodes") {
      settings.placement.cpu_nodes = parse_names(value);
    } else if (name == "fp32_nodes") {
      settings.fp32_nodes = parse_names(value);
    } else if (name == "fp16_check") {
      PROA_ASSIGN(settings.check_overflow, parse_bool(key, value));
    } else if (name == "gpu_shapes") {
      PROA_ASSIGN(settings.most_shapes, parse_count(key, value, "shapes"));
    } else if (name == "require_gpu") {
      PROA_ASSIGN(settings.require_gpu, parse_bool(key, value));
    } else {
      unknown_keys.push_back(key);
    }
  }
  return settings;
}

std::vector<std::int64_t> choose_buckets(std::int64_t max_batch_size,
                                         std::span<const std::int32_t> preferred) {
  std::set<std::int64_t> sizes = {max_batch_size};
  for (std::int64_t size = 1; size < max_batch_size; size *= 2) sizes.insert(size);
  for (const std::int32_t size : preferred) {
    if (size >= 1 && size <= max_batch_size) sizes.insert(size);
  }
  return {sizes.begin(), sizes.end()};
}

}  // namespace proa::backends::cuda
