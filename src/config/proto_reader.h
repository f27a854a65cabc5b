#pragma once

#include <string>
#include <vector>

#include "config/given_fields.h"
#include "config/model_config.h"
#include "config/problems.h"

namespace inference {
class ModelConfig;
}

namespace proa::config {

// The structs for what `message` says, with the defaults of what it leaves open. Names of backends
// become ours; the name of the platform stays. `given` tells a stated 0 from an absent field.
// What the structs cannot hold becomes a problem; unknown data types become kInvalid and other
// unknown numbers of enumerations the default (scalar_rules.h tells of them). Accelerators that are
// not there get a line of `warnings` each.
ModelConfig read_proto(const inference::ModelConfig& message, const GivenFields& given,
                       Problems& problems, std::vector<std::string>& warnings);

}  // namespace proa::config
