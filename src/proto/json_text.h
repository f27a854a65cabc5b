#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace proa::proto {

// Appends `text` as a JSON string, quotes included. Control characters, quotes and backslashes are
// escaped; everything else that is valid UTF-8 is kept as it is; each byte that is not part of
// valid UTF-8 becomes U+FFFD, so that the result is always valid JSON.
void append_json_string(std::string& out, std::string_view text);

// The length of the longest prefix of `text` that is valid UTF-8 (no surrogates, no overlong
// forms).
std::size_t valid_utf8_prefix(std::string_view text);

// Whether `token` is a number of the JSON grammar: "-0.5e3", not "01", "+1", ".5" or "NaN".
bool is_json_number(std::string_view token);

}  // namespace proa::proto
