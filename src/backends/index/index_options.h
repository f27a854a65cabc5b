#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/index/vector_index.h"
#include "base/result.h"
#include "config/model_config.h"

namespace proa::backends::index {

// The `parameters` that the configuration of an index may set; docs/image-search.md explains them.
// Threading: a plain value.
struct IndexOptions {
  std::int64_t k = 10;           // neighbours a query gets
  std::optional<Metric> metric;  // none = what the file says
  int ef_search = 64;            // how widely an HNSW index is searched
};

// Errors: kInvalidArgument naming the parameter, its value and what it may be. Names of unknown
// parameters go to `unknown`.
Result<IndexOptions> parse_index_options(const config::ModelConfig& config,
                                         std::vector<std::string>& unknown);

}  // namespace proa::backends::index
