#include "backend_config.h"

#include <algorithm>
#include <array>

#include "base/log.h"
#include "base/text.h"

namespace proa {
namespace {

// Triton's backends whose models the CPU engine runs; "" is all of them.
constexpr std::array<std::string_view, 4> kCpuBackends = {"", "onnxruntime", "openvino",
                                                          "tensorflow"};

}  // namespace

Status read_backend_config(std::string_view text, BackendConfig& config) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) {
    return error::invalid_argument("'{}' is not of the form [BACKEND,]KEY=VALUE",
                                   log::printable(text));
  }
  const auto comma = text.substr(0, equals).find(',');
  const bool has_backend = comma != std::string_view::npos;
  const std::string_view backend = has_backend ? text.substr(0, comma) : "";
  const std::string_view key =
      text.substr(has_backend ? comma + 1 : 0, equals - (has_backend ? comma + 1 : 0));
  const std::string_view value = text.substr(equals + 1);
  if (key != "default-max-batch-size" ||
      std::ranges::find(kCpuBackends, backend) == kCpuBackends.end()) {
    config.warnings.push_back(
        fmt::format("--backend-config={} is ignored: it steers a library of another product",
                    log::printable(text)));
    return {};
  }
  const auto size = parse_number<std::int32_t>(value);
  if (!size || *size < 0) {
    return error::invalid_argument("default-max-batch-size is '{}'; wanted a number from 0 on",
                                   log::printable(value));
  }
  config.default_max_batch_size = *size;
  return {};
}

Status read_gpu_limit(std::string_view text, std::map<int, double>& limits) {
  const std::size_t colon = text.find(':');
  const auto device = parse_number<int>(text.substr(0, colon));
  const auto share =
      colon == std::string_view::npos ? std::nullopt : parse_number<double>(text.substr(colon + 1));
  if (!device || *device < 0 || !share || !(*share >= 0 && *share <= 1)) {
    return error::invalid_argument("'{}': wanted GPU:SHARE with a share from 0 to 1, like 0:0.9",
                                   text);
  }
  limits[*device] = *share;
  return {};
}

}  // namespace proa
