#pragma once

#include <span>

#include "base/result.h"
#include "config/model_config.h"

namespace proa::config {

// Whether the models of an ensemble's steps fit together: every tensor that a map names exists,
// every input that a step's model cannot do without is mapped, and all that name one tensor agree
// on its type and shape, with or without a batch dimension. Models that batch take batches as large
// as the ensemble's. Where one side leaves an extent open, requests are checked as they come.
//
// `ensemble.ensemble` is set; `steps` are complete configurations, in the order of its steps.
// Errors: kInvalidArgument with the first misfit; it names the two sides.
Status check_steps_fit(const ModelConfig& ensemble, std::span<const ModelConfig* const> steps);

}  // namespace proa::config
