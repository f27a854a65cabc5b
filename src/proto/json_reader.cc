#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "proto/base64.h"
#include "proto/json.h"
#include "proto/json_place.h"
#include "proto/json_text.h"
#include "proto/nearest_name.h"
#include "simdjson.h"

namespace proa::proto {
namespace {

namespace ondemand = simdjson::ondemand;
using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::string_view wanted_name(const FieldDescriptor& field) {
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

// Reads one document. Keeps the path to the value in hand, for messages.
class Reader {
 public:
  explicit Reader(const simdjson::padded_string& text) : text_(text) {}

  Status read(Message& message) {
    ondemand::document document;
    ondemand::value root;
    if (const auto code = parser_.iterate(text_).get(document)) return syntax_error(code);
    document_ = &document;
    if (const auto code = document.get_value().get(root)) return syntax_error(code);
    PROA_TRY(read_message(root, message));
    const char* rest = nullptr;
    if (document.current_location().get(rest) == simdjson::SUCCESS) {
      return fail(rest, "wanted the end of the text after the closing brace");
    }
    return {};
  }

 private:
  // Adds a step to the path for as long as it lives.
  class Step {
   public:
    Step(std::string& path, std::string_view name) : path_(path), size_(path.size()) {
      if (!path.empty()) path += '.';
      path += name;
    }
    Step(std::string& path, std::size_t index) : path_(path), size_(path.size()) {
      path += fmt::format("[{}]", index);
    }
    ~Step() { path_.resize(size_); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    std::string& path_;
    std::size_t size_;
  };

  Error fail(const char* place, std::string_view problem) const {
    return error::invalid_argument("{}: {}{}{}", json_place(text_, place), path_,
                                   path_.empty() ? "" : ": ", problem);
  }

  Error syntax_error(simdjson::error_code code) const {
    const char* place = document_ == nullptr ? text_.data() : json_position(text_, *document_);
    return fail(place, fmt::format("not valid JSON: {}", simdjson::error_message(code)));
  }

  Error wrong_type(ondemand::value& value, std::string_view wanted) const {
    return fail(json_token(text_, value).data(),
                fmt::format("wanted {}, got {}", wanted, json_summary(text_, value)));
  }

  Status read_message(ondemand::value& value, Message& message) {
    if (++depth_ > kMaxJsonDepth) {
      return fail(json_token(text_, value).data(),
                  fmt::format("more than {} levels", kMaxJsonDepth));
    }
    ondemand::object object;
    if (value.get_object().get(object)) return wrong_type(value, "an object");
    std::set<const FieldDescriptor*> seen;
    for (auto member : object) {
      ondemand::field field;
      if (const auto code = std::move(member).get(field)) return syntax_error(code);
      PROA_TRY(read_member(field, message, seen));
    }
    --depth_;
    return {};
  }

  Status read_member(ondemand::field& member, Message& message,
                     std::set<const FieldDescriptor*>& seen) {
    const char* place = member.key().raw() - 1;
    std::string_view key_view;
    if (const auto code = member.unescaped_key().get(key_view)) return syntax_error(code);
    const std::string key(key_view);
    const Descriptor& descriptor = *message.GetDescriptor();
    const FieldDescriptor* field = descriptor.FindFieldByName(key);
    if (field == nullptr) field = descriptor.FindFieldByCamelcaseName(key);
    if (field == nullptr) return unknown_field(place, key, descriptor);
    const Step step(path_, field->name());
    if (!seen.insert(field).second) return fail(place, "set twice");
    ondemand::value value = member.value();
    if (json_token(text_, value) == "null") return {};
    if (const auto* oneof = field->containing_oneof();
        oneof != nullptr && message.GetReflection()->HasOneof(message, oneof)) {
      const FieldDescriptor* other =
          message.GetReflection()->GetOneofFieldDescriptor(message, oneof);
      if (other != field) {
        return fail(place, fmt::format("only one field of '{}' may be set, and '{}' is already",
                                       oneof->name(), other->name()));
      }
    }
    if (field->is_map()) return read_map(value, message, *field);
    if (field->is_repeated()) return read_array(value, message, *field);
    return read_value(value, message, *field);
  }

  Error unknown_field(const char* place, std::string_view key, const Descriptor& descriptor) const {
    std::vector<std::string_view> known;
    for (int i = 0; i < descriptor.field_count(); ++i) known.push_back(descriptor.field(i)->name());
    const std::string_view nearest = nearest_name(key, known);
    return fail(place, nearest.empty() ? fmt::format("{} has no field '{}'", descriptor.name(), key)
                                       : fmt::format("{} has no field '{}'; did you mean '{}'?",
                                                     descriptor.name(), key, nearest));
  }

  Status read_array(ondemand::value& value, Message& message, const FieldDescriptor& field) {
    ondemand::array array;
    if (value.get_array().get(array)) return wrong_type(value, "an array");
    std::size_t index = 0;
    for (auto item : array) {
      const Step step(path_, index++);
      ondemand::value element;
      if (const auto code = std::move(item).get(element)) return syntax_error(code);
      PROA_TRY(read_value(element, message, field));
    }
    return {};
  }

  Status read_map(ondemand::value& value, Message& message, const FieldDescriptor& field) {
    ondemand::object object;
    if (value.get_object().get(object)) return wrong_type(value, "an object");
    std::set<std::string, std::less<>> seen;
    for (auto item : object) {
      ondemand::field member;
      if (const auto code = std::move(item).get(member)) return syntax_error(code);
      const char* place = member.key().raw() - 1;
      std::string_view key;
      if (const auto code = member.unescaped_key().get(key)) return syntax_error(code);
      const Step step(path_, key);
      if (!seen.emplace(key).second) return fail(place, "set twice");
      Message& entry = *message.GetReflection()->AddMessage(&message, &field);
      const FieldDescriptor& key_field = *field.message_type()->map_key();
      if (!store_scalar(std::string(key), entry, key_field)) {
        return fail(place, fmt::format("wanted {} as key", wanted_name(key_field)));
      }
      ondemand::value entry_value = member.value();
      PROA_TRY(read_value(entry_value, entry, *field.message_type()->map_value()));
    }
    return {};
  }

  // Sets a singular field, or adds one element to a repeated one.
  Status read_value(ondemand::value& value, Message& message, const FieldDescriptor& field) {
    const auto* reflection = message.GetReflection();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      return read_message(value, field.is_repeated()
                                     ? *reflection->AddMessage(&message, &field)
                                     : *reflection->MutableMessage(&message, &field));
    }
    ondemand::json_type type;
    if (const auto code = value.type().get(type)) return syntax_error(code);
    const bool takes_string = field.cpp_type() != FieldDescriptor::CPPTYPE_BOOL;
    const bool needs_string = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
    std::string text(json_token(text_, value));
    if (type == ondemand::json_type::string && takes_string) {
      std::string_view unescaped;
      if (const auto code = value.get_string().get(unescaped)) return syntax_error(code);
      text = unescaped;
    } else if (needs_string || text.empty()) {
      return wrong_type(value, wanted_name(field));
    }
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
      return read_enum(value, text, message, field);
    }
    if (!store_scalar(std::move(text), message, field)) {
      return wrong_type(value, wanted_name(field));
    }
    return {};
  }

  Status read_enum(ondemand::value& value, const std::string& text, Message& message,
                   const FieldDescriptor& field) {
    const EnumDescriptor& type = *field.enum_type();
    const auto* found = type.FindValueByName(text);
    if (const auto number = parse_integer<std::int32_t>(text); found == nullptr && number) {
      found = type.FindValueByNumber(*number);
    }
    if (found == nullptr) {
      std::string known;
      for (int i = 0; i < type.value_count(); ++i) {
        known += fmt::format("{}{}", i == 0 ? "" : ", ", type.value(i)->name());
      }
      return fail(json_token(text_, value).data(),
                  fmt::format("'{}' is not one of {}", text, known));
    }
    const auto* reflection = message.GetReflection();
    if (field.is_repeated()) {
      reflection->AddEnum(&message, &field, found);
    } else {
      reflection->SetEnum(&message, &field, found);
    }
    return {};
  }

  // Sets or adds a scalar that is not an enum from its text; false when the text does not fit.
  static bool store_scalar(std::string text, Message& message, const FieldDescriptor& field) {
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

  const simdjson::padded_string& text_;
  ondemand::parser parser_;
  ondemand::document* document_ = nullptr;
  std::string path_;
  int depth_ = 0;
};

}  // namespace

Status from_json(std::string_view text, Message& message) {
  const simdjson::padded_string padded(text);
  return Reader(padded).read(message);
}

}  // namespace proa::proto
