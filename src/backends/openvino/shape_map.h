#pragma once

#include "base/result.h"
#include "tensor/shape.h"

namespace proa::backends::openvino {

// Rewrites `actual`, which matches the pattern `from`, into the pattern `to` of the same number of
// elements: the k-th kAny of `to` takes the extent at the k-th kAny of `from`.
//   reshape_extents([5,4], [-1,4], [-1,2,2]) = [5,2,2]
// Errors: kInvalidArgument when `actual` does not match `from`, or the patterns do not fit.
Result<Shape> reshape_extents(const Shape& actual, const Shape& from, const Shape& to);

}  // namespace proa::backends::openvino
