#include "proto/json_text.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace proa::proto {
namespace {

// What a byte needs inside a JSON string.
enum class Need : std::uint8_t { kNothing, kEscape, kUtf8 };

constexpr std::array<Need, 256> kNeeds = [] {
  std::array<Need, 256> needs{};
  for (int c = 0; c < 0x20; ++c) needs[c] = Need::kEscape;
  needs['"'] = Need::kEscape;
  needs['\\'] = Need::kEscape;
  for (int c = 0x80; c < 0x100; ++c) needs[c] = Need::kUtf8;
  return needs;
}();

Need need_of(char c) { return kNeeds[static_cast<unsigned char>(c)]; }

void append_escape(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
  }
}

// The length of the UTF-8 sequence at the start of `text`; 0 when there is no valid one.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto in = [](unsigned value, unsigned low, unsigned high) {
    return value >= low && value <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return text.empty() ? 0 : 1;
  if (in(first, 0xC2, 0xDF)) return in(byte(1), 0x80, 0xBF) ? 2 : 0;
  if (in(first, 0xE0, 0xEF)) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return in(byte(1), low, high) && in(byte(2), 0x80, 0xBF) ? 3 : 0;
  }
  if (in(first, 0xF0, 0xF4)) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    const bool tail = in(byte(2), 0x80, 0xBF) && in(byte(3), 0x80, 0xBF);
    return in(byte(1), low, high) && tail ? 4 : 0;
  }
  return 0;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t plain = at;
    while (plain < text.size() && need_of(text[plain]) == Need::kNothing) ++plain;
    out.append(text, at, plain - at);
    at = plain;
    if (at == text.size()) break;
    if (need_of(text[at]) == Need::kEscape) {
      append_escape(out, text[at++]);
    } else if (const std::size_t length = utf8_length(text.substr(at)); length > 0) {
      out.append(text, at, length);
      at += length;
    } else {
      out += "\\ufffd";
      ++at;
    }
  }
  out += '"';
}

std::size_t valid_utf8_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

bool is_json_number(std::string_view token) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t start = at;
    while (at < token.size() && is_digit(token[at])) ++at;
    return at > start;
  };
  if (at < token.size() && token[at] == '-') ++at;
  const std::size_t whole = at;
  if (!digits()) return false;
  if (token[whole] == '0' && at - whole > 1) return false;
  if (at < token.size() && token[at] == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < token.size() && (token[at] == 'e' || token[at] == 'E')) {
    ++at;
    if (at < token.size() && (token[at] == '+' || token[at] == '-')) ++at;
    if (!digits()) return false;
  }
  return at == token.size();
}

}  // namespace proa::proto
