#pragma once

#include "config/problems.h"
#include "google/protobuf/message.h"

namespace proa::config {

// Adds a problem for each string of `message` that is not UTF-8 and each number that stands for no
// value of its enumeration: neither could be shown again. Unknown numbers of data types are left to
// the rules of the fields that have one.
void check_scalars(const google::protobuf::Message& message, Problems& problems);

}  // namespace proa::config
