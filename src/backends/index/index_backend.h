#pragma once

#include <memory>

#include "base/clock.h"
#include "core/backend.h"

namespace proa::backends::index {

// The file of the payloads in a version's folder, beside the index: one line for each vector, in
// the order in which they were put in.
inline constexpr std::string_view kPayloadFile = "payloads.txt";

// Nearest neighbours over stored vectors (docs/image-search.md): a query FP32 [dimension] gets
// `ids` INT64 [k], `scores` FP32 [k] and, where the version's folder has them, `payloads` BYTES
// [k].
std::unique_ptr<core::Backend> make_index_backend(const Clock* clock);

}  // namespace proa::backends::index
