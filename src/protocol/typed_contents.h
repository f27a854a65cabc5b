#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "tensor/buffer.h"
#include "tensor/data_type.h"

namespace proa::protocol {

// The elements of InferTensorContents messages, one behind the other, as row-major bytes of `type`.
// `contents` holds the message's bytes, in several parts when the field came several times.
// Errors: kInvalidArgument when the bytes are malformed, hold elements in the field of another
// type, or a value that does not fit `type`; messages do not name the input.
Result<BufferView> read_typed_contents(std::span<const std::string_view> contents, DataType type);

}  // namespace proa::protocol
