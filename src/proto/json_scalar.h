#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace proa::proto {

// Scalars of JSON as fields of messages.

// What a field wants, for error messages: "a 32-bit integer, not negative".
std::string_view wanted_value(const google::protobuf::FieldDescriptor& field);

// `text` as a whole number, "5" or "5.0"; nothing when it is not one or does not fit.
std::optional<std::int32_t> parse_json_int32(std::string_view text);

// Sets a singular field, or adds to a repeated one, from a scalar's text (a string's without quotes
// and escapes). False when the text does not fit; always for enums and messages.
bool store_json_scalar(std::string text, google::protobuf::Message& message,
                       const google::protobuf::FieldDescriptor& field);

}  // namespace proa::proto
