#pragma once

#include <span>

#include "base/result.h"
#include "image/decode.h"

namespace proa::image {

// See decode_picture().
Result<Decoded> decode_webp(std::span<const std::byte> file, const DecodeLimits& limits);

}  // namespace proa::image
