#include "backends/index/index_options.h"

#include "backends/bad_parameter.h"
#include "base/text.h"

namespace proa::backends::index {
namespace {

constexpr std::int64_t kMostNeighbours = 10'000;
constexpr std::int64_t kWidestSearch = 100'000;

Result<std::int64_t> parse_count(std::string_view name, std::string_view value, std::int64_t most) {
  const auto number = parse_number<std::int64_t>(value);
  if (!number || *number < 1 || *number > most) {
    return bad_parameter(name, value, fmt::format("a whole number from 1 to {}", most));
  }
  return *number;
}

}  // namespace

Result<IndexOptions> parse_index_options(const config::ModelConfig& config,
                                         std::vector<std::string>& unknown) {
  IndexOptions options;
  for (const auto& [name, value] : config.parameters) {
    if (name == "k") {
      PROA_ASSIGN(options.k, parse_count(name, value, kMostNeighbours));
    } else if (name == "ef_search") {
      PROA_ASSIGN(const std::int64_t wide, parse_count(name, value, kWidestSearch));
      options.ef_search = static_cast<int>(wide);
    } else if (name == "metric") {
      options.metric = find_metric(lower_case(value));
      if (!options.metric) return bad_parameter(name, value, kMetricNames);
    } else {
      unknown.push_back(name);
    }
  }
  return options;
}

}  // namespace proa::backends::index
