#include "config/text_parser.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "config/map_key.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "proto/nearest_name.h"

namespace proa::config {
namespace {

namespace pb = google::protobuf;

// inference.ModelConfig itself needs 6.
constexpr int kMaxDepth = 32;
constexpr int kMaxEnumRepairs = 50;

// The lines of a text, and protobuf's places in it: its tokenizer counts lines and columns from 0
// and a tabulator as the way to the next multiple of 8.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {
    for (std::size_t begin = 0; begin <= text.size();) {
      starts_.push_back(begin);
      const std::size_t end = text.find('\n', begin);
      if (end == std::string_view::npos) break;
      begin = end + 1;
    }
  }

  std::size_t offset(int line, int column) const {
    if (static_cast<std::size_t>(line) >= starts_.size()) return text_.size();
    std::size_t at = starts_[line];
    for (int seen = 0; seen < column && at < text_.size() && text_[at] != '\n'; ++at) {
      seen += text_[at] == '\t' ? kTabWidth - seen % kTabWidth : 1;
    }
    return at;
  }

  // The last place of `word` in that line before the column; the column itself when it is not
  // there.
  std::size_t offset_before(int line, int column, std::string_view word) const {
    const std::size_t end = offset(line, column);
    const std::size_t begin =
        std::min(end, starts_[std::min<std::size_t>(line, starts_.size() - 1)]);
    const std::size_t at = text_.substr(begin, end - begin).rfind(word);
    return at == std::string_view::npos ? end : begin + at;
  }

  // As people count: lines and bytes of a line from 1.
  Position position(std::size_t offset) const {
    const auto after = std::ranges::upper_bound(starts_, offset);
    const auto line = static_cast<int>(after - starts_.begin());
    return {line, static_cast<int>(offset - starts_[line - 1]) + 1};
  }

 private:
  static constexpr int kTabWidth = 8;
  const std::string_view text_;
  std::vector<std::size_t> starts_;
};

// The words in double quotes of a message.
std::vector<std::string> quoted_words(std::string_view message) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t begin = message.find('"');
    const std::size_t end = begin == std::string_view::npos ? begin : message.find('"', begin + 1);
    if (end == std::string_view::npos) return words;
    words.emplace_back(message.substr(begin + 1, end - begin - 1));
    message.remove_prefix(end + 1);
  }
}

std::string suggestion(std::string_view wanted, const std::vector<std::string_view>& known) {
  const std::string_view nearest = proto::nearest_name(wanted, known);
  return nearest.empty() ? std::string() : fmt::format("; did you mean '{}'?", nearest);
}

std::string unknown_field(std::string_view message_type, std::string_view name) {
  std::vector<std::string_view> known;
  const pb::Descriptor* type =
      inference::ModelConfig::descriptor()->file()->pool()->FindMessageTypeByName(
          std::string(message_type));
  for (int i = 0; type != nullptr && i < type->field_count(); ++i) {
    known.push_back(type->field(i)->name());
  }
  const std::size_t dot = message_type.rfind('.');
  return fmt::format("{} has no field '{}'{}", message_type.substr(dot + 1), log::printable(name),
                     suggestion(name, known));
}

void collect_enum_names(const pb::Descriptor& type, std::string_view field,
                        std::vector<std::string_view>& names) {
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::EnumDescriptor* values = type.field(i)->enum_type();
    if (values == nullptr || type.field(i)->name() != field) continue;
    for (int k = 0; k < values->value_count(); ++k) names.push_back(values->value(k)->name());
  }
}

std::string unknown_enum_value(std::string_view value, std::string_view field) {
  std::vector<std::string_view> names;
  const pb::FileDescriptor* file = inference::ModelConfig::descriptor()->file();
  for (int i = 0; i < file->message_type_count(); ++i) {
    collect_enum_names(*file->message_type(i), field, names);
  }
  return fmt::format("'{}' is no value of {}{}", log::printable(value), field,
                     suggestion(value, names));
}

// What the parser complains about, with the places it means: of names it reports the token behind.
class Complaints final : public pb::io::ErrorCollector {
 public:
  // An unknown enumeration value in the text.
  struct EnumValue {
    std::size_t offset, length;
  };

  Complaints(const Lines& lines, Problems& problems) : lines_(lines), problems_(problems) {}

  void AddError(int line, int column, const std::string& message) override {
    const std::vector<std::string> words = quoted_words(message);
    if (message.starts_with("Unknown enumeration value") && words.size() == 2) {
      bad_enum_ = EnumValue{lines_.offset_before(line, column, words[0]), words[0].size()};
      return report(bad_enum_->offset, unknown_enum_value(words[0], words[1]));
    }
    failed_ = true;
    report(lines_.offset(line, column), log::printable(message));
  }

  void AddWarning(int line, int column, const std::string& message) override {
    const std::vector<std::string> words = quoted_words(message);
    if (!message.starts_with("Message type") || words.size() != 2) return;
    unknown_fields_.emplace_back(lines_.offset_before(line, column, words[1]),
                                 unknown_field(words[0], words[1]));
  }

  const std::optional<EnumValue>& bad_enum() const { return bad_enum_; }
  bool failed() const { return failed_; }

  // Apart, because every pass sees those before the place where it stops.
  void report_unknown_fields() {
    for (auto& [offset, message] : unknown_fields_) report(offset, std::move(message));
  }

 private:
  void report(std::size_t offset, std::string message) {
    problems_.add("", std::move(message), lines_.position(offset));
  }

  const Lines& lines_;
  Problems& problems_;
  std::optional<EnumValue> bad_enum_;
  std::vector<std::pair<std::size_t, std::string>> unknown_fields_;
  bool failed_ = false;
};

// Writes the place of every field that `tree` knows into `given`.
class PlaceWalk {
 public:
  PlaceWalk(const Lines& lines, GivenFields& given) : lines_(lines), given_(given) {}

  void visit(const pb::Message& message, const pb::TextFormat::ParseInfoTree& tree,
             const std::string& prefix) {
    const pb::Descriptor* type = message.GetDescriptor();
    for (int i = 0; i < type->field_count(); ++i) {
      const pb::FieldDescriptor* field = type->field(i);
      if (field->is_repeated()) {
        visit_elements(message, *field, tree, prefix);
      } else {
        add(tree.GetLocation(field, -1), prefix + field->name());
        visit_nested(message, *field, -1, tree, prefix + field->name());
      }
    }
  }

 private:
  void visit_elements(const pb::Message& message, const pb::FieldDescriptor& field,
                      const pb::TextFormat::ParseInfoTree& tree, const std::string& prefix) {
    const pb::Reflection* reflection = message.GetReflection();
    add(tree.GetLocation(&field, 0), prefix + field.name());
    pb::TextFormat::ParseLocation place;
    for (int k = 0; k < reflection->FieldSize(message, &field); ++k) {
      // The parser knows one place for a whole list in brackets; messages have their first field's.
      if (tree.GetLocation(&field, k).line >= 0) place = tree.GetLocation(&field, k);
      std::string key = std::to_string(k);
      if (field.is_map()) key = map_key(reflection->GetRepeatedMessage(message, &field, k));
      const std::string path = fmt::format("{}{}[{}]", prefix, field.name(), key);
      const pb::TextFormat::ParseLocation inner = first_place(field, k, tree);
      add(inner.line >= 0 ? inner : place, path);
      visit_nested(message, field, k, tree, path);
    }
  }

  static pb::TextFormat::ParseLocation first_place(const pb::FieldDescriptor& field, int index,
                                                   const pb::TextFormat::ParseInfoTree& tree) {
    pb::TextFormat::ParseLocation first;
    const pb::Descriptor* type = field.message_type();
    const auto* nested = type == nullptr ? nullptr : tree.GetTreeForNested(&field, index);
    for (int i = 0; nested != nullptr && i < type->field_count(); ++i) {
      const int element = type->field(i)->is_repeated() ? 0 : -1;
      const pb::TextFormat::ParseLocation place = nested->GetLocation(type->field(i), element);
      if (place.line < 0) continue;
      if (first.line < 0 ||
          std::pair(place.line, place.column) < std::pair(first.line, first.column)) {
        first = place;
      }
    }
    return first;
  }

  void visit_nested(const pb::Message& message, const pb::FieldDescriptor& field, int index,
                    const pb::TextFormat::ParseInfoTree& tree, const std::string& path) {
    const pb::TextFormat::ParseInfoTree* nested =
        field.message_type() == nullptr ? nullptr : tree.GetTreeForNested(&field, index);
    if (nested == nullptr) return;
    const pb::Reflection* reflection = message.GetReflection();
    visit(index < 0 ? reflection->GetMessage(message, &field)
                    : reflection->GetRepeatedMessage(message, &field, index),
          *nested, path + ".");
  }

  void add(const pb::TextFormat::ParseLocation& place, std::string path) {
    if (place.line < 0) return;
    given_.add(std::move(path), lines_.position(lines_.offset(place.line, place.column)));
  }

  const Lines& lines_;
  GivenFields& given_;
};

}  // namespace

TextConfig parse_text(std::string_view text, Problems& problems) {
  const Lines lines(text);
  std::string repaired(text);
  for (int repairs = 0;; ++repairs) {
    Complaints complaints(lines, problems);
    pb::TextFormat::ParseInfoTree tree;
    pb::TextFormat::Parser parser;
    parser.RecordErrorsTo(&complaints);
    parser.WriteLocationsTo(&tree);
    parser.AllowUnknownField(true);
    parser.SetRecursionLimit(kMaxDepth);
    TextConfig result;
    const bool parsed = parser.ParseFromString(repaired, &result.message);
    if (!parsed && complaints.bad_enum() && !complaints.failed() && repairs < kMaxEnumRepairs) {
      // Put the value 0 in the place of the unknown name and look for what else is wrong.
      const auto [offset, length] = *complaints.bad_enum();
      repaired.replace(offset, length, length, ' ');
      repaired[offset] = '0';
      continue;
    }
    complaints.report_unknown_fields();
    PlaceWalk(lines, result.given).visit(result.message, tree, "");
    return result;
  }
}

}  // namespace proa::config
