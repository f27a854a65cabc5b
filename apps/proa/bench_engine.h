#pragma once

#include <memory>

#include "base/result.h"
#include "loadgen/clients/client.h"
#include "loadgen/payloads.h"
#include "loadgen/run/server_statistics.h"
#include "local_runtime.h"

namespace proa {

// A model in this process as a target: the floor that no server can beat. Requests go straight to
// the model's scheduler, without encoding; batching and instances are those of its configuration.

// What the model is, for making its requests.
loadgen::ModelSignature describe_local_model(const core::Model& model);

// `runtime` has a model; both must outlive the target.
std::unique_ptr<loadgen::Target> make_engine_target(const LocalRuntime& runtime,
                                                    const loadgen::PayloadSet& payloads);

// The model's own counters.
std::unique_ptr<loadgen::StatisticsSource> make_engine_statistics(const LocalRuntime& runtime);

}  // namespace proa
