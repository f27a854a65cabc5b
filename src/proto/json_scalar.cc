#include "proto/json_scalar.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "proto/base64.h"
#include "proto/json_text.h"

namespace proa::proto {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// `text` as a whole number, "5" or "5.0"; nothing when it is not one or does not fit.
template <class Integer>
std::optional<Integer> parse_integer(std::string_view text) {
  if (!is_json_number(text)) return std::nullopt;
  const char* end = text.data() + text.size();
  Integer value = 0;
  auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec == std::errc() && parsed.ptr == end) return value;
  if (text.find_first_of(".eE") == std::string_view::npos) return std::nullopt;
  double real = 0;
  parsed = std::from_chars(text.data(), end, real);
  // Both bounds are exact in double; the upper one is the first value that does not fit.
  constexpr double kLow = static_cast<double>(std::numeric_limits<Integer>::min());
  const double high = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
  if (parsed.ec != std::errc() || std::trunc(real) != real || real < kLow || real >= high) {
    return std::nullopt;
  }
  return static_cast<Integer>(real);
}

template <class Float>
std::optional<Float> parse_float(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<Float>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<Float>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<Float>::infinity();
  if (!is_json_number(text)) return std::nullopt;
  Float value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc()) return std::nullopt;
  return value;
}

std::optional<bool> parse_bool(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

}  // namespace

std::string_view wanted_value(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return "a 32-bit integer";
    case FieldDescriptor::CPPTYPE_INT64:
      return "a 64-bit integer";
    case FieldDescriptor::CPPTYPE_UINT32:
      return "a 32-bit integer, not negative";
    case FieldDescriptor::CPPTYPE_UINT64:
      return "a 64-bit integer, not negative";
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return "a number";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return "the name of a value";
    case FieldDescriptor::CPPTYPE_STRING:
      return field.type() == FieldDescriptor::TYPE_BYTES ? "a string of base64" : "a string";
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return "an object";
  }
  return "a value";
}

std::optional<std::int32_t> parse_json_int32(std::string_view text) {
  return parse_integer<std::int32_t>(text);
}

bool store_json_scalar(std::string text, Message& message, const FieldDescriptor& field) {
  const auto* reflection = message.GetReflection();
#define PROA_STORE(type, parsed)                                   \
  {                                                                \
    auto scalar = parsed;                                          \
    if (!scalar) return false;                                     \
    if (field.is_repeated()) {                                     \
      reflection->Add##type(&message, &field, *std::move(scalar)); \
    } else {                                                       \
      reflection->Set##type(&message, &field, *std::move(scalar)); \
    }                                                              \
    return true;                                                   \
  }
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      PROA_STORE(Int32, parse_integer<std::int32_t>(text))
    case FieldDescriptor::CPPTYPE_INT64:
      PROA_STORE(Int64, parse_integer<std::int64_t>(text))
    case FieldDescriptor::CPPTYPE_UINT32:
      PROA_STORE(UInt32, parse_integer<std::uint32_t>(text))
    case FieldDescriptor::CPPTYPE_UINT64:
      PROA_STORE(UInt64, parse_integer<std::uint64_t>(text))
    case FieldDescriptor::CPPTYPE_DOUBLE:
      PROA_STORE(Double, parse_float<double>(text))
    case FieldDescriptor::CPPTYPE_FLOAT:
      PROA_STORE(Float, parse_float<float>(text))
    case FieldDescriptor::CPPTYPE_BOOL:
      PROA_STORE(Bool, parse_bool(text))
    case FieldDescriptor::CPPTYPE_STRING:
      if (field.type() == FieldDescriptor::TYPE_BYTES) PROA_STORE(String, from_base64(text))
      PROA_STORE(String, std::optional(std::move(text)))
    case FieldDescriptor::CPPTYPE_ENUM:
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
#undef PROA_STORE
  return false;
}

}  // namespace proa::proto
