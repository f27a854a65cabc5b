#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "proto/base64.h"
#include "proto/json.h"
#include "proto/json_text.h"

namespace proa::proto {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kSingular = -1;  // "index" of a field that is not repeated

template <class Number>
void append_number(std::string& out, Number value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value);
  out.append(text, end.ptr);
}

template <class Float>
void append_float(std::string& out, Float value) {
  if (std::isnan(value)) {
    out += "\"NaN\"";
  } else if (std::isinf(value)) {
    out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    append_number(out, value);
  }
}

// One value of `field`: element `index` of a repeated field, or the field itself (kSingular).
// Calls on_value with it, in its C++ type.
template <class OnValue>
void visit_value(const Message& message, const FieldDescriptor& field, int index,
                 OnValue on_value) {
  const Reflection& reflection = *message.GetReflection();
#define PROA_VISIT(type)                                              \
  on_value(index == kSingular ? reflection.Get##type(message, &field) \
                              : reflection.GetRepeated##type(message, &field, index))
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      PROA_VISIT(Int32);
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      PROA_VISIT(Int64);
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      PROA_VISIT(UInt32);
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      PROA_VISIT(UInt64);
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      PROA_VISIT(Double);
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      PROA_VISIT(Float);
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      PROA_VISIT(Bool);
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      PROA_VISIT(Enum);
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      PROA_VISIT(String);
      break;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      on_value(static_cast<const Message*>(
          index == kSingular ? &reflection.GetMessage(message, &field)
                             : &reflection.GetRepeatedMessage(message, &field, index)));
      break;
  }
#undef PROA_VISIT
}

void append_message(std::string& out, const Message& message);

// Overloads for visit_value.
struct ValueWriter {
  std::string& out;
  const FieldDescriptor& field;

  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(std::int32_t value) const { append_number(out, value); }
  void operator()(std::int64_t value) const { append_number(out, value); }
  void operator()(std::uint32_t value) const { append_number(out, value); }
  void operator()(std::uint64_t value) const { append_number(out, value); }
  void operator()(float value) const { append_float(out, value); }
  void operator()(double value) const { append_float(out, value); }
  void operator()(const google::protobuf::EnumValueDescriptor* value) const {
    append_json_string(out, value->name());
  }
  void operator()(const std::string& value) const {
    const bool binary = field.type() == FieldDescriptor::TYPE_BYTES;
    append_json_string(out, binary ? to_base64(value) : value);
  }
  void operator()(const Message* value) const { append_message(out, *value); }
};

void append_value(std::string& out, const Message& message, const FieldDescriptor& field,
                  int index) {
  visit_value(message, field, index, ValueWriter{out, field});
}

// The text of a map entry's key, without quotes.
std::string key_text(const Message& entry) {
  const FieldDescriptor& key = *entry.GetDescriptor()->map_key();
  if (key.cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    return entry.GetReflection()->GetString(entry, &key);
  }
  std::string text;
  append_value(text, entry, key, kSingular);
  return text;
}

void append_map(std::string& out, const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<std::pair<std::string, const Message*>> entries;
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
    entries.emplace_back(key_text(entry), &entry);
  }
  const bool text_keys =
      field.message_type()->map_key()->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  std::ranges::sort(entries, [&](const auto& a, const auto& b) {
    if (!text_keys && a.first.size() != b.first.size()) return a.first.size() < b.first.size();
    return a.first < b.first;
  });
  out += '{';
  bool first = true;
  for (const auto& [key, entry] : entries) {
    if (!first) out += ',';
    first = false;
    append_json_string(out, key);
    out += ':';
    append_value(out, *entry, *entry->GetDescriptor()->map_value(), kSingular);
  }
  out += '}';
}

void append_field(std::string& out, const Message& message, const FieldDescriptor& field) {
  append_json_string(out, field.name());
  out += ':';
  if (field.is_map()) {
    append_map(out, message, field);
  } else if (field.is_repeated()) {
    out += '[';
    for (int i = 0; i < message.GetReflection()->FieldSize(message, &field); ++i) {
      if (i > 0) out += ',';
      append_value(out, message, field, i);
    }
    out += ']';
  } else {
    append_value(out, message, field, kSingular);
  }
}

void append_message(std::string& out, const Message& message) {
  const auto& descriptor = *message.GetDescriptor();
  out += '{';
  bool first = true;
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const FieldDescriptor& field = *descriptor.field(i);
    if (field.has_presence() && !message.GetReflection()->HasField(message, &field)) continue;
    if (!first) out += ',';
    first = false;
    append_field(out, message, field);
  }
  out += '}';
}

}  // namespace

std::string to_json(const Message& message) {
  std::string out;
  append_message(out, message);
  return out;
}

}  // namespace proa::proto
