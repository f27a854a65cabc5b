#pragma once

#include <string>

#include "google/protobuf/message.h"

namespace proa::config {

// The key of a map's entry as it stands in paths, "parameters[KEY]"; the configuration's keys are
// strings and unsigned numbers.
std::string map_key(const google::protobuf::Message& entry);

}  // namespace proa::config
