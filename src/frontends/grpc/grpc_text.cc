#include "frontends/grpc/grpc_text.h"

#include <array>

#include "base/text.h"

namespace proa::frontends {
namespace {

std::optional<Duration> unit_length(char unit) {
  switch (unit) {
    case 'H':
      return std::chrono::hours(1);
    case 'M':
      return std::chrono::minutes(1);
    case 'S':
      return std::chrono::seconds(1);
    case 'm':
      return std::chrono::milliseconds(1);
    case 'u':
      return std::chrono::microseconds(1);
    case 'n':
      return std::chrono::nanoseconds(1);
    default:
      return std::nullopt;
  }
}

bool is_plain(char c) { return c >= 0x20 && c <= 0x7e && c != '%'; }

}  // namespace

std::optional<Duration> parse_grpc_timeout(std::string_view value) {
  constexpr std::size_t kMaxDigits = 8;
  if (value.size() < 2 || value.size() > kMaxDigits + 1) return std::nullopt;
  const auto unit = unit_length(value.back());
  const auto count = parse_number<std::uint32_t>(value.substr(0, value.size() - 1));
  if (!unit || !count) return std::nullopt;
  // 99,999,999 hours are beyond 64-bit nanoseconds: cut at a century.
  constexpr Duration kLongest = std::chrono::hours(24 * 36525);
  return *count > kLongest / *unit ? kLongest : *count * *unit;
}

std::string encode_grpc_message(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (is_plain(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return out;
}

bool is_grpc_content_type(std::string_view value) {
  constexpr std::string_view kBase = "application/grpc";
  if (!value.starts_with(kBase)) return false;
  value.remove_prefix(kBase.size());
  if (value.starts_with("+proto")) value.remove_prefix(6);
  return value.empty() || value.front() == ';';
}

}  // namespace proa::frontends
