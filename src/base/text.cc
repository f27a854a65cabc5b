#include "base/text.h"

namespace proa {

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::optional<char> percent_encoded_byte(std::string_view text) {
  if (text.size() < 3 || text[0] != '%') return std::nullopt;
  unsigned char byte = 0;
  const char* const end = text.data() + 3;
  const auto [stop, failure] = std::from_chars(text.data() + 1, end, byte, 16);
  if (failure != std::errc() || stop != end) return std::nullopt;
  return static_cast<char>(byte);
}

}  // namespace proa
