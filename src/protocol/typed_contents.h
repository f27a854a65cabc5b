#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "tensor/buffer.h"
#include "tensor/data_type.h"

namespace proa::protocol {

// The elements of InferTensorContents messages, one behind the other, as row-major bytes of `type`.
// `contents` holds the message's bytes, in several parts when the field came several times.
// Nothing is allocated before it is known that they take at most `max_bytes`.
// Errors: kUnavailable when they take more; kInvalidArgument when the bytes are malformed, hold
// elements in the field of another type, or a value that does not fit `type`; messages do not name
// the input.
Result<BufferView> read_typed_contents(std::span<const std::string_view> contents, DataType type,
                                       std::size_t max_bytes);

}  // namespace proa::protocol
