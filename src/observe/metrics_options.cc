#include "observe/metrics_options.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "fmt/format.h"

namespace proa::observe {
namespace {

struct Switch {
  std::string_view name;
  bool MetricsOptions::* value;
};

constexpr Switch kSwitches[] = {{"counter_latencies", &MetricsOptions::counter_latencies},
                                {"histogram_latencies", &MetricsOptions::histogram_latencies},
                                {"summary_latencies", &MetricsOptions::summary_latencies}};

Error invalid(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

// A number in 0..1, both ends left out.
Result<double> parse_share(std::string_view text) {
  const auto number = parse_number<double>(text);
  if (!number || !(*number > 0 && *number < 1)) {
    return invalid(fmt::format("summary_quantiles: '{}' is no number between 0 and 1", text));
  }
  return *number;
}

Result<std::vector<double>> parse_quantiles(std::string_view text) {
  std::vector<double> quantiles;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view pair = text.substr(0, comma);
    const std::size_t colon = pair.find(':');
    if (colon == std::string_view::npos) {
      return invalid(
          fmt::format("summary_quantiles: '{}' is not QUANTILE:ERROR, such as 0.99:0.001", pair));
    }
    PROA_ASSIGN(const double quantile, parse_share(pair.substr(0, colon)));
    PROA_TRY(parse_share(pair.substr(colon + 1)));
    quantiles.push_back(quantile);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  std::ranges::sort(quantiles);
  if (std::ranges::adjacent_find(quantiles) != quantiles.end()) {
    return invalid("summary_quantiles: a quantile is given twice");
  }
  return quantiles;
}

}  // namespace

Status set_metrics_option(MetricsOptions& options, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
  if (name == "summary_quantiles") {
    PROA_ASSIGN(options.summary_quantiles, parse_quantiles(value));
    return {};
  }
  const auto* found = std::ranges::find(kSwitches, name, &Switch::name);
  if (found == std::end(kSwitches)) {
    return invalid(
        fmt::format("'{}' is no setting; there are counter_latencies, "
                    "histogram_latencies, summary_latencies, summary_quantiles",
                    name));
  }
  if (value != "true" && value != "false") {
    return invalid(fmt::format("{}: wanted true or false, not '{}'", name, value));
  }
  options.*(found->value) = value == "true";
  return {};
}

}  // namespace proa::observe
