#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "google/protobuf/message.h"

namespace proa::proto {

// Protobuf messages as JSON, by reflection, in the dialect of Triton's HTTP endpoints
// (GET .../config, the `config` parameter of a load request). protobuf's own converter omits fields
// that hold their default, prints 64-bit integers as strings and reports errors without a place.

// The message as one line of JSON: fields in the order of their declaration under their proto
// names; every field that has no presence is printed, defaults included; unset sub-messages and
// unset oneofs are omitted. 64-bit integers are numbers, enums names, bytes base64, maps objects
// with their keys in order. NaN and infinities are the strings "NaN", "Infinity" and "-Infinity".
// Bytes that are not UTF-8 in a string become U+FFFD.
std::string to_json(const google::protobuf::Message& message);

// Reads JSON into `message`, normally an empty one. Field names are proto names or their
// lowerCamelCase form; integers and floats may be strings; enums names or numbers; null leaves a
// field unset.
// Errors: kInvalidArgument with line, column and path ("line 3, column 9: input[0].dims: wanted
// ..."), for: text that is not JSON, unknown fields (with the nearest known name), values of
// another type or out of range, unknown enum values, a field or a oneof that is set twice, more
// than kMaxJsonDepth levels. The first error is told; the others' fields stay unset.
Status from_json(std::string_view text, google::protobuf::Message& message);

// A place in a text, counted from 1.
struct JsonPosition {
  int line = 1;
  int column = 1;
};

// One field, element or entry that a text states, or one thing that is wrong with it.
struct JsonNote {
  std::string path;  // "input[0].dims[1]", "parameters[KEY].string_value"
  JsonPosition position;
  std::string problem;  // "" for what is fine
};

struct JsonReading {
  std::vector<JsonNote> stated;    // everything that is not null, in order of the text
  std::vector<JsonNote> problems;  // up to kMaxJsonProblems
};

// The same for an author's text: goes on after everything that does not end the JSON itself, and
// tells which fields the text states, defaults included.
JsonReading read_json(std::string_view text, google::protobuf::Message& message);

inline constexpr int kMaxJsonDepth = 100;
inline constexpr std::size_t kMaxJsonProblems = 50;

}  // namespace proa::proto
