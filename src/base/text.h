#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proa {

// Small things that every reader of text needs.

// ASCII letters only; other bytes stay.
std::string lower_case(std::string_view text);

// `text` without the spaces and tabs around it.
std::string_view trim(std::string_view text);

// The lines of a text without their ends ("\n" or "\r\n"), as views into it. A line end at the end
// of the text starts no further line.
std::vector<std::string_view> split_lines(std::string_view text);

// The byte that the %XX at the start of `text` stands for; nothing when that is not what is there.
std::optional<char> percent_encoded_byte(std::string_view text);

// The number that the whole of `text` is: no spaces, no '+', and for integers decimal digits.
// Nothing when it is none or does not fit.
template <class Number>
  requires(std::integral<Number> || std::floating_point<Number>)
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace proa
