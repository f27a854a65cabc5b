#pragma once

#include <string>
#include <string_view>

#include "config/problems.h"

namespace proa::config {

// Adds a problem unless `path` stays below the folder that it is relative to: no absolute paths, no
// "..". `folder` names that folder for the author: "the model's folder".
void check_stays_inside(std::string_view path, std::string_view folder, std::string field,
                        Problems& problems);

}  // namespace proa::config
