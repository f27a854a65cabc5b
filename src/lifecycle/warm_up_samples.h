#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "config/model_config.h"
#include "core/warm_up.h"
#include "storage/local_folder.h"

namespace proa::lifecycle {

// The requests that `config.warm_ups` describes, with their data: zeros (empty strings for BYTES),
// pseudo-random values that are the same at every start (0 <= x < 1, integers 0 to 99, eight
// letters), or files below `folder`/warmup, which hold one row and are repeated for each row of the
// batch.
// Errors: kInvalidArgument, kNotFound, kPermissionDenied with sample and input: a file that is
// missing, outside of the repository or larger than kMaxWarmUpFileBytes, a shape that is not
// wholly known, a request of more than kMaxWarmUpBytes.
Result<std::vector<core::WarmUpSample>> make_warm_up_samples(const storage::LocalFolder& repository,
                                                             const std::filesystem::path& folder,
                                                             const config::ModelConfig& config);

inline constexpr std::size_t kMaxWarmUpBytes = std::size_t{1} << 30;  // of one request
inline constexpr std::size_t kMaxWarmUpFileBytes = std::size_t{1} << 30;

}  // namespace proa::lifecycle
