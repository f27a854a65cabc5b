#pragma once

#include <memory>

#include "base/clock.h"
#include "core/backend.h"

namespace proa::backends {

// Picture files in, tensors out: decodes, resizes, crops and normalises as the `parameters` of the
// model's configuration say (docs/image.md). Needs no model file, only a version folder.
std::unique_ptr<core::Backend> make_image_backend(const Clock* clock);

}  // namespace proa::backends
