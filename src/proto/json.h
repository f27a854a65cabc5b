#pragma once

#include <string>
#include <string_view>

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
// than kMaxJsonDepth levels. What was read before the error stays in `message`.
Status from_json(std::string_view text, google::protobuf::Message& message);

inline constexpr int kMaxJsonDepth = 100;

}  // namespace proa::proto
