#include "config/scalar_rules.h"

#include <vector>

#include "base/log.h"
#include "config/map_key.h"
#include "proto/json_text.h"
#include "proto/model_config.pb.h"

namespace proa::config {
namespace {

namespace pb = google::protobuf;

std::string value_names(const pb::EnumDescriptor& type) {
  std::string names;
  for (int i = 0; i < type.value_count(); ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : ", ", type.value(i)->name());
  }
  return names;
}

// Walks over the fields that a message sets.
class ScalarWalk {
 public:
  explicit ScalarWalk(Problems& problems) : problems_(problems) {}

  void visit(const pb::Message& message, const std::string& prefix) {
    std::vector<const pb::FieldDescriptor*> fields;
    const pb::Reflection& reflection = *message.GetReflection();
    reflection.ListFields(message, &fields);
    for (const pb::FieldDescriptor* field : fields) {
      const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) visit_value(message, *field, i, prefix + field->name());
    }
  }

 private:
  void visit_value(const pb::Message& message, const pb::FieldDescriptor& field, int index,
                   const std::string& path) {
    const pb::Reflection& reflection = *message.GetReflection();
    const std::string place = path + element_of(message, field, index);
    switch (field.cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_STRING:
        check_string(field.is_repeated() ? reflection.GetRepeatedString(message, &field, index)
                                         : reflection.GetString(message, &field),
                     place);
        break;
      case pb::FieldDescriptor::CPPTYPE_ENUM:
        check_enum(field.is_repeated() ? reflection.GetRepeatedEnumValue(message, &field, index)
                                       : reflection.GetEnumValue(message, &field),
                   *field.enum_type(), place);
        break;
      case pb::FieldDescriptor::CPPTYPE_MESSAGE:
        visit(field.is_repeated() ? reflection.GetRepeatedMessage(message, &field, index)
                                  : reflection.GetMessage(message, &field),
              place + ".");
        break;
      default:
        break;
    }
  }

  // "", "[3]" or "[KEY]".
  static std::string element_of(const pb::Message& message, const pb::FieldDescriptor& field,
                                int index) {
    if (!field.is_repeated()) return {};
    if (!field.is_map()) return fmt::format("[{}]", index);
    return fmt::format(
        "[{}]", map_key(message.GetReflection()->GetRepeatedMessage(message, &field, index)));
  }

  void check_string(const std::string& text, const std::string& place) {
    const std::size_t valid = proto::valid_utf8_prefix(text);
    if (valid == text.size()) return;
    problems_.add(place, fmt::format("byte {} of '{}' is not UTF-8 text: write it in UTF-8",
                                     valid + 1, log::printable(text)));
  }

  void check_enum(int number, const pb::EnumDescriptor& type, const std::string& place) {
    if (type.FindValueByNumber(number) != nullptr || &type == inference::DataType_descriptor()) {
      return;
    }
    problems_.add(place, fmt::format("{} is the number of no value: write one of {}", number,
                                     value_names(type)));
  }

  Problems& problems_;
};

}  // namespace

void check_scalars(const pb::Message& message, Problems& problems) {
  ScalarWalk(problems).visit(message, "");
}

}  // namespace proa::config
