#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "tensor/shape.h"

namespace proa {

// `--shape NAME:2,3`: extents for an input whose shape is open.
struct GivenShape {
  std::string name;
  Shape shape;
};

// Takes "NAME:2,3" apart. Errors: kInvalidArgument quoting it.
Result<GivenShape> parse_given_shape(std::string_view argument);

}  // namespace proa
