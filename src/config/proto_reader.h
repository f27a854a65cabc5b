#pragma once

#include "config/given_fields.h"
#include "config/model_config.h"
#include "config/problems.h"

namespace inference {
class ModelConfig;
}

namespace proa::config {

// The structs for what `message` says, with the defaults of what it leaves open. Names of backends
// become ours; the name of the platform stays. `given` tells a stated 0 from an absent field.
// What the structs cannot hold becomes
// a problem, except for unknown data types, which become kInvalid.
ModelConfig read_proto(const inference::ModelConfig& message, const GivenFields& given,
                       Problems& problems);

}  // namespace proa::config
