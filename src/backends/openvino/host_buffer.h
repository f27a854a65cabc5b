#pragma once

#include <string_view>

#include "base/result.h"
#include "tensor/buffer.h"

namespace proa::backends::openvino {

// Host memory for the tensor `name`, whose size a request or a model decides.
// Errors: kResourceExhausted with name and bytes when the machine has not that much.
Result<Buffer> allocate_or_fail(std::string_view name, std::size_t bytes);

}  // namespace proa::backends::openvino
