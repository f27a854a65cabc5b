#include <set>
#include <vector>

#include "base/log.h"
#include "google/protobuf/descriptor.h"
#include "proto/json.h"
#include "proto/json_place.h"
#include "proto/json_scalar.h"
#include "proto/nearest_name.h"
#include "simdjson.h"

namespace proa::proto {
namespace {

namespace ondemand = simdjson::ondemand;
using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Why a Reader's function was left: the rest of the text cannot be read.
struct [[nodiscard]] Ended {
  bool ended = false;
  explicit operator bool() const { return ended; }
};

// Reads one document. Keeps the path to the value in hand, for messages.
class Reader {
 public:
  struct Options {
    bool keep_stated = false;
    std::size_t max_problems = 1;
  };

  Reader(const simdjson::padded_string& text, Options options)
      : text_(text), options_(options), lines_(text) {}

  JsonReading read(Message& message) {
    read_document(message);
    return std::move(reading_);
  }

 private:
  // Adds a step to the path for as long as it lives.
  class Step {
   public:
    static Step field(std::string& path, std::string_view name) {
      return Step(path, fmt::format("{}{}", path.empty() ? "" : ".", name));
    }
    template <class Key>
    static Step element(std::string& path, const Key& key) {
      return Step(path, fmt::format("[{}]", key));
    }
    ~Step() { path_.resize(size_); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    Step(std::string& path, std::string_view step) : path_(path), size_(path.size()) {
      path += step;
    }
    std::string& path_;
    std::size_t size_;
  };

  void read_document(Message& message) {
    ondemand::document document;
    ondemand::value root;
    Ended ended;
    if (const auto code = parser_.iterate(text_).get(document)) {
      ended = syntax_error(code);
      return;
    }
    document_ = &document;
    if (const auto code = document.get_value().get(root)) {
      ended = syntax_error(code);
    } else {
      ended = read_message(root, message);
    }
    const char* rest = nullptr;
    if (!ended && document.current_location().get(rest) == simdjson::SUCCESS &&
        reading_.problems.empty()) {
      ended = problem(rest, "wanted the end of the text after the closing brace");
    }
  }

  // Notes what is wrong. Reading goes on until there are too many.
  Ended problem(const char* place, std::string what) {
    reading_.problems.push_back({path_, lines_.position(place), std::move(what)});
    return {reading_.problems.size() >= options_.max_problems};
  }

  Ended syntax_error(simdjson::error_code code) {
    const char* place = document_ == nullptr ? text_.data() : json_position(text_, *document_);
    (void)problem(place, fmt::format("not valid JSON: {}", simdjson::error_message(code)));
    return {true};
  }

  Ended wrong_type(ondemand::value& value, std::string_view wanted) {
    return problem(json_token(text_, value).data(),
                   fmt::format("wanted {}, got {}", wanted, json_summary(text_, value)));
  }

  void note_stated(const char* place) {
    if (options_.keep_stated) reading_.stated.push_back({path_, lines_.position(place), {}});
  }

  Ended read_message(ondemand::value& value, Message& message) {
    if (depth_ == kMaxJsonDepth) {
      (void)problem(json_token(text_, value).data(),
                    fmt::format("more than {} levels", kMaxJsonDepth));
      return {true};
    }
    ondemand::object object;
    if (value.get_object().get(object)) return wrong_type(value, "an object");
    ++depth_;
    std::set<const FieldDescriptor*> seen;
    for (auto member : object) {
      ondemand::field field;
      if (const auto code = std::move(member).get(field)) return syntax_error(code);
      if (const Ended ended = read_member(field, message, seen)) return ended;
    }
    --depth_;
    return {};
  }

  Ended read_member(ondemand::field& member, Message& message,
                    std::set<const FieldDescriptor*>& seen) {
    const char* place = member.key().raw() - 1;
    std::string_view key_view;
    if (const auto code = member.unescaped_key().get(key_view)) return syntax_error(code);
    const std::string key(key_view);
    const Descriptor& descriptor = *message.GetDescriptor();
    const FieldDescriptor* field = descriptor.FindFieldByName(key);
    if (field == nullptr) field = descriptor.FindFieldByCamelcaseName(key);
    if (field == nullptr) return unknown_field(place, key, descriptor);
    const Step step = Step::field(path_, field->name());
    if (!seen.insert(field).second) return problem(place, "set twice");
    ondemand::value value = member.value();
    if (json_token(text_, value) == "null") return {};
    if (const auto* oneof = field->containing_oneof();
        oneof != nullptr && message.GetReflection()->HasOneof(message, oneof)) {
      const FieldDescriptor* other =
          message.GetReflection()->GetOneofFieldDescriptor(message, oneof);
      if (other != field) {
        return problem(place, fmt::format("only one field of '{}' may be set, and '{}' is already",
                                          oneof->name(), other->name()));
      }
    }
    note_stated(place);
    if (field->is_map()) return read_map(value, message, *field);
    if (field->is_repeated()) return read_array(value, message, *field);
    return read_value(value, message, *field);
  }

  Ended unknown_field(const char* place, std::string_view key, const Descriptor& descriptor) {
    std::vector<std::string_view> known;
    for (int i = 0; i < descriptor.field_count(); ++i) known.push_back(descriptor.field(i)->name());
    const std::string_view nearest = nearest_name(key, known);
    std::string what = fmt::format("{} has no field '{}'", descriptor.name(), log::printable(key));
    if (!nearest.empty()) what += fmt::format("; did you mean '{}'?", nearest);
    return problem(place, std::move(what));
  }

  Ended read_array(ondemand::value& value, Message& message, const FieldDescriptor& field) {
    ondemand::array array;
    if (value.get_array().get(array)) return wrong_type(value, "an array");
    std::size_t index = 0;
    for (auto item : array) {
      const Step step = Step::element(path_, index++);
      ondemand::value element;
      if (const auto code = std::move(item).get(element)) return syntax_error(code);
      note_stated(json_token(text_, element).data());
      if (const Ended ended = read_value(element, message, field)) return ended;
    }
    return {};
  }

  Ended read_map(ondemand::value& value, Message& message, const FieldDescriptor& field) {
    ondemand::object object;
    if (value.get_object().get(object)) return wrong_type(value, "an object");
    std::set<std::string, std::less<>> seen;
    for (auto item : object) {
      ondemand::field member;
      if (const auto code = std::move(item).get(member)) return syntax_error(code);
      if (const Ended ended = read_entry(member, message, field, seen)) return ended;
    }
    return {};
  }

  Ended read_entry(ondemand::field& member, Message& message, const FieldDescriptor& field,
                   std::set<std::string, std::less<>>& seen) {
    const char* place = member.key().raw() - 1;
    std::string_view key;
    if (const auto code = member.unescaped_key().get(key)) return syntax_error(code);
    const Step step = Step::element(path_, log::printable(key));
    if (!seen.emplace(key).second) return problem(place, "set twice");
    note_stated(place);
    Message& entry = *message.GetReflection()->AddMessage(&message, &field);
    const FieldDescriptor& key_field = *field.message_type()->map_key();
    if (!store_json_scalar(std::string(key), entry, key_field)) {
      return problem(place, fmt::format("wanted {} as key", wanted_value(key_field)));
    }
    ondemand::value entry_value = member.value();
    return read_value(entry_value, entry, *field.message_type()->map_value());
  }

  // Sets a singular field, or adds one element to a repeated one.
  Ended read_value(ondemand::value& value, Message& message, const FieldDescriptor& field) {
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
    const std::string_view token = json_token(text_, value);
    std::string text(token);
    if (type == ondemand::json_type::string && takes_string) {
      std::string_view unescaped;
      if (const auto code = value.get_string().get(unescaped)) return syntax_error(code);
      text = unescaped;
    } else if (needs_string || text.empty()) {
      return wrong_type(value, wanted_value(field));
    }
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
      return read_enum(token.data(), text, message, field);
    }
    if (!store_json_scalar(std::move(text), message, field)) {
      return wrong_type(value, wanted_value(field));
    }
    return {};
  }

  Ended read_enum(const char* place, const std::string& text, Message& message,
                  const FieldDescriptor& field) {
    const EnumDescriptor& type = *field.enum_type();
    const auto* found = type.FindValueByName(text);
    if (const auto number = parse_json_int32(text); found == nullptr && number) {
      found = type.FindValueByNumber(*number);
    }
    if (found == nullptr) {
      std::string known;
      for (int i = 0; i < type.value_count(); ++i) {
        known += fmt::format("{}{}", i == 0 ? "" : ", ", type.value(i)->name());
      }
      return problem(place, fmt::format("'{}' is not one of {}", log::printable(text), known));
    }
    const auto* reflection = message.GetReflection();
    if (field.is_repeated()) {
      reflection->AddEnum(&message, &field, found);
    } else {
      reflection->SetEnum(&message, &field, found);
    }
    return {};
  }

  const simdjson::padded_string& text_;
  const Options options_;
  JsonLines lines_;
  JsonReading reading_;
  ondemand::parser parser_;
  ondemand::document* document_ = nullptr;
  std::string path_;
  int depth_ = 0;
};

}  // namespace

JsonReading read_json(std::string_view text, Message& message) {
  const simdjson::padded_string padded(text);
  return Reader(padded, {.keep_stated = true, .max_problems = kMaxJsonProblems}).read(message);
}

Status from_json(std::string_view text, Message& message) {
  const simdjson::padded_string padded(text);
  const JsonReading reading = Reader(padded, {}).read(message);
  if (reading.problems.empty()) return {};
  const auto& [path, position, problem] = reading.problems.front();
  return error::invalid_argument("line {}, column {}: {}{}{}", position.line, position.column, path,
                                 path.empty() ? "" : ": ", problem);
}

}  // namespace proa::proto
