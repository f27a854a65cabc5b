#pragma once

#include <cstddef>

#include "tensor/shape.h"

namespace proa::core {

// The shape that a tensor has on the other side of a `reshape`: of an input what the model wants
// (`from` = dims, `to` = reshape), of an output what the client sees (the other way round). The
// first `lead` extents (the batch dimension) stay; each -1 of `to` takes the extent that `shape`
// has at the -1 of the same number in `from`. A shape that does not have the rank of `from` comes
// back as it is. The configuration's validation has checked that both have the same elements.
Shape reshaped(const Shape& shape, std::size_t lead, const Shape& from, const Shape& to);

}  // namespace proa::core
