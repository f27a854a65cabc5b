#include "proto/json_place.h"

#include <algorithm>

#include "fmt/format.h"

namespace proa::proto {

JsonPosition JsonLines::position(const char* at) {
  const auto end = static_cast<std::size_t>(at - text_.data());
  if (end < seen_) *this = JsonLines(text_);
  for (; seen_ < end; ++seen_) {
    if (text_[seen_] != '\n') continue;
    ++line_;
    line_start_ = seen_ + 1;
  }
  return {line_, static_cast<int>(end - line_start_) + 1};
}

std::string json_place(std::string_view text, const char* at) {
  const JsonPosition position = JsonLines(text).position(at);
  return fmt::format("line {}, column {}", position.line, position.column);
}

const char* json_position(std::string_view text, simdjson::ondemand::document& document) {
  const char* at = nullptr;
  const bool inside = document.current_location().get(at) == simdjson::SUCCESS;
  const char* end = text.data() + text.size();
  return inside && at >= text.data() && at <= end ? at : end;
}

std::string_view json_token(std::string_view text, simdjson::ondemand::value& value) {
  const std::string_view raw = value.raw_json_token();
  const char* end = text.data() + text.size();
  if (raw.data() < text.data() || raw.data() >= end) return text.substr(text.size());
  const std::string_view token =
      raw.substr(0, std::min(raw.size(), static_cast<std::size_t>(end - raw.data())));
  return token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
}

std::string json_summary(std::string_view text, simdjson::ondemand::value& value) {
  constexpr std::size_t kShown = 40;
  const std::string_view token = json_token(text, value);
  if (token.empty()) return "the end of the text";
  if (token.starts_with('[')) return "an array";
  if (token.starts_with('{')) return "an object";
  return std::string(token.substr(0, kShown));
}

}  // namespace proa::proto
