#pragma once

#include <cstdint>
#include <span>

#include "core/model.h"
#include "proto/grpc_service.pb.h"

namespace proa::frontends {

// What clients learn of a model's signature. `versions` are those that are ready.
inference::ModelMetadataResponse metadata_message(const config::ModelConfig& config,
                                                  std::span<const std::int64_t> versions);

// A model version's counters as the statistics extension shows them.
inference::ModelStatistics statistics_message(const core::Model& model);

}  // namespace proa::frontends
