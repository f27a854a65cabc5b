#include "proto/json_text.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "base/utf8.h"

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
