#pragma once

#include <cstddef>
#include <string_view>

namespace proa {

// The length of the UTF-8 sequence at the start of `text`; 0 when there is no valid one (surrogates
// and overlong sequences are not).
std::size_t utf8_length(std::string_view text);

// Is all of `text` valid UTF-8?
bool is_utf8(std::string_view text);

}  // namespace proa
