#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "backends/index/vector_index.h"
#include "base/result.h"

namespace proa {

// Puts an index and its payloads into a new version of the model in `folder`, whole or not at all:
// a server that polls the repository never sees half of it. Writes config.pbtxt where there is
// none. Returns the number of the version. Errors: kUnavailable with the path and the system's
// reason.
Result<std::int64_t> publish_index(const std::filesystem::path& folder,
                                   const backends::index::VectorIndex& index, std::int64_t k,
                                   const std::vector<std::string>& payloads);

}  // namespace proa
