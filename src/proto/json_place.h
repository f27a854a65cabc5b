#pragma once

#include <string>
#include <string_view>

#include "proto/json.h"
#include "simdjson.h"

namespace proa::proto {

// Helpers for readers of JSON over simdjson's on-demand parser, whose own errors have no place.

// Lines and columns of places in `text`, which must outlive it. Cheap for places in rising order.
class JsonLines {
 public:
  explicit JsonLines(std::string_view text) : text_(text) {}

  // `at` points into the text, or to its end.
  JsonPosition position(const char* at);

 private:
  std::string_view text_;
  std::size_t seen_ = 0;        // characters counted
  std::size_t line_start_ = 0;  // where the last line among them begins
  int line_ = 1;
};

// "line 3, column 9" for a pointer into `text` (or to its end).
std::string json_place(std::string_view text, const char* at);

// Where `document` stands after a failure: a pointer into `text`.
const char* json_position(std::string_view text, simdjson::ondemand::document& document);

// The value's first token: a scalar's whole text, or an opening bracket; empty at the end of
// `text`. Does not consume the value. (simdjson's own raw_json_token() of a value behind the last
// token has a length that means nothing.)
std::string_view json_token(std::string_view text, simdjson::ondemand::value& value);

// What stands there, for "wanted ..., got ...": the text of a scalar, cut to 40 bytes, or "an
// array", "an object", "the end of the text".
std::string json_summary(std::string_view text, simdjson::ondemand::value& value);

}  // namespace proa::proto
