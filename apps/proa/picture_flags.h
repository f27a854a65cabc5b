#pragma once

#include <string>

#include "image/picture_plan.h"

namespace CLI {
class App;
}

namespace proa {

// Adds the flags that say how pictures are prepared; the targets must outlive the parsing.
void add_picture_flags(CLI::App& command, image::PictureOptions& picture,
                       std::string& picture_input);

}  // namespace proa
