#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace proa::proto {

// Base64 with padding. Source: RFC 4648, section 4.
std::string to_base64(std::string_view bytes);

// The bytes of `text` in the standard or the URL alphabet, padded or not; nothing when it is
// neither.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace proa::proto
