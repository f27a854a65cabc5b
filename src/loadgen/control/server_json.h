#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "loadgen/payloads.h"
#include "loadgen/run_result.h"

namespace proa::loadgen {

// What servers say about themselves and their models, in the JSON of KServe v2 and Triton's
// extensions. Members that are not needed may be missing or unknown.

struct ServerDescription {
  std::string name;
  std::string version;
};
Result<ServerDescription> read_server_metadata(std::string_view json);

// A model's metadata, and its configuration ("" where the server has none: then it has no batch
// dimension, no sequences and is not decoupled).
// Errors: kInternal for what is no metadata.
Result<ModelSignature> read_model_signature(std::string_view metadata, std::string_view config);

// Names of the models that an ensemble's configuration names as its steps, each once.
std::vector<std::string> read_composing_models(std::string_view config);

// The statistics extension.
Result<std::vector<ServerModelStatistics>> read_statistics(std::string_view json);

// A Prometheus page: the samples whose names begin with "nv_", histogram buckets left out.
std::vector<ServerMetric> read_metrics(std::string_view text);

}  // namespace proa::loadgen
