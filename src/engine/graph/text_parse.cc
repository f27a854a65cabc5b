#include <charconv>
#include <map>

#include "engine/graph/infer.h"
#include "engine/graph/text.h"

namespace proa::engine {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 28;

// One line of the text, read from left to right. Every read gives an error that names the column.
class Line {
 public:
  Line(std::string_view text, int number) : text_(text), number_(number) {}

  Error expected(std::string_view what) const {
    return error::invalid_argument("line {}, column {}: expected {}, found '{}'", number_, at_ + 1,
                                   what, text_.substr(std::min(at_, text_.size()), 20));
  }
  Error wrong(const Error& why) const {
    return error::invalid_argument("line {}: {}", number_, why.message);
  }
  bool at_end() {
    skip_blanks();
    return at_ == text_.size() || text_[at_] == '#';
  }
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Status want(char c) {
    if (take(c)) return {};
    return expected(std::string{'\'', c, '\''});
  }
  // A word of letters, digits and _./-$, or anything in double quotes.
  Result<std::string> name() {
    if (take('"')) {
      const std::size_t end = text_.find('"', at_);
      if (end == std::string_view::npos) return expected("a closing quote");
      std::string quoted(text_.substr(at_, end - at_));
      at_ = end + 1;
      return quoted;
    }
    if (at_end()) return expected("a name");
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
            std::string_view("_./-$").find(text_[at_]) != std::string_view::npos)) {
      ++at_;
    }
    if (at_ == begin) return expected("a name");
    return std::string(text_.substr(begin, at_ - begin));
  }
  template <class Number>
  Result<Number> number() {
    if (at_end()) return expected("a number");
    Number value{};
    const auto [end, code] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code != std::errc{}) return expected("a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }
  Result<Dims> dims() {
    PROA_TRY(want('['));
    Dims list;
    if (take(']')) return list;
    do {
      PROA_ASSIGN(list.emplace_back(), number<std::int64_t>());
    } while (take(','));
    PROA_TRY(want(']'));
    return list;
  }
  Result<TensorType> type() {
    PROA_ASSIGN(const std::string word, name());
    const auto type = parse_data_type(word);
    if (!type || element_size(*type) == 0) return expected("a data type such as FP32");
    PROA_ASSIGN(const Dims list, dims());
    const Shape shape{std::span<const std::int64_t>(list)};
    if (!shape.element_count() || *shape.element_count() > kMostElements) {
      return expected("a shape of known, reasonable extents");
    }
    return TensorType{*type, shape};
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  std::string_view text_;
  std::size_t at_ = 0;
  int number_;
};

// Reading of attribute values: one function per type, overloaded on what it fills.
Status read(Line& line, Dims& value) {
  PROA_ASSIGN(value, line.dims());
  return {};
}
Status read(Line& line, std::int64_t& value) {
  PROA_ASSIGN(value, line.number<std::int64_t>());
  return {};
}
Status read(Line& line, float& value) {
  PROA_ASSIGN(value, line.number<float>());
  return {};
}
Status read(Line& line, bool& value) {
  PROA_ASSIGN(const std::string word, line.name());
  if (word != "true" && word != "false") return line.expected("true or false");
  value = word == "true";
  return {};
}
Status read(Line& line, DataType& value) {
  PROA_ASSIGN(const std::string word, line.name());
  const auto type = parse_data_type(word);
  if (!type || element_size(*type) == 0) return line.expected("a data type such as FP32");
  value = *type;
  return {};
}
template <class Enum>
Status read_enum(Line& line, Enum& value, Enum last) {
  PROA_ASSIGN(const std::string word, line.name());
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (name_of(static_cast<Enum>(i)) != word) continue;
    value = static_cast<Enum>(i);
    return {};
  }
  return line.expected("a known word instead of '" + word + "'");
}
Status read(Line& line, Layout& value) { return read_enum(line, value, Layout::kNhwc); }
Status read(Line& line, BinaryKind& value) { return read_enum(line, value, BinaryKind::kMinimum); }
Status read(Line& line, PoolKind& value) { return read_enum(line, value, PoolKind::kAverage); }
Status read(Line& line, ReduceKind& value) { return read_enum(line, value, ReduceKind::kMax); }
Status read(Line& line, Activation& value) {
  PROA_TRY(read_enum(line, value.function, Function::kHardSwish));
  if (value.function != Function::kClamp) return {};
  PROA_TRY(line.want('('));
  PROA_ASSIGN(value.low, line.number<float>());
  PROA_TRY(line.want(','));
  PROA_ASSIGN(value.high, line.number<float>());
  return line.want(')');
}

Status read_attribute(Line& line, Op& op) {
  PROA_ASSIGN(const std::string name, line.name());
  PROA_TRY(line.want('='));
  Status status;
  bool found = false;
  std::visit(
      [&]<class OpType>(OpType& each) {
        OpType::fields(each, [&](std::string_view field, auto& value) {
          if (field != name) return;
          found = true;
          status = read(line, value);
        });
      },
      op);
  if (!found)
    return line.expected("an attribute of " + std::string(op_name(op)) + " instead of '" + name +
                         "'");
  return status;
}

template <std::size_t Index = 0>
std::optional<Op> default_op(std::string_view name) {
  if constexpr (Index == std::variant_size_v<Op>) {
    return std::nullopt;
  } else {
    using OpType = std::variant_alternative_t<Index, Op>;
    if (OpType::kName == name) return Op(OpType{});
    return default_op<Index + 1>(name);
  }
}

class Parser {
 public:
  Result<Graph> parse(std::string_view text) {
    int number = 0;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      Line line(text.substr(0, end), ++number);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (!line.at_end()) PROA_TRY(statement(line));
      if (!line.at_end()) return line.expected("the end of the line");
    }
    return std::move(graph_);
  }

 private:
  Status statement(Line& line) {
    PROA_ASSIGN(std::string word, line.name());
    const bool is_node = line.take('=');
    if (is_node) return node(line, std::move(word));
    if (word == "graph") {
      PROA_ASSIGN(graph_.name, line.name());
      return {};
    }
    if (word == "output") {
      PROA_ASSIGN(graph_.outputs.emplace_back(), value(line));
      return {};
    }
    if (word != "input" && word != "const")
      return line.expected("graph, input, const, output or =");
    PROA_ASSIGN(std::string name, line.name());
    PROA_TRY(line.want(':'));
    PROA_ASSIGN(const TensorType type, line.type());
    if (word == "input") return define(line, name, graph_.add_input(name, type.type, type.shape));
    PROA_TRY(line.want('='));
    PROA_ASSIGN(const std::vector<float> numbers, constant(line, type));
    Buffer bytes = pack_floats(type.type, numbers);
    return define(line, name, graph_.add_constant(name, type.type, type.shape, std::move(bytes)));
  }

  Status node(Line& line, std::string name) {
    PROA_ASSIGN(const std::string op_word, line.name());
    std::optional<Op> op = default_op(op_word);
    if (!op) return line.expected("an operator instead of '" + op_word + "'");
    std::vector<ValueId> inputs;
    PROA_TRY(line.want('('));
    while (!line.take(')')) {
      if (!inputs.empty()) PROA_TRY(line.want(','));
      PROA_ASSIGN(inputs.emplace_back(), value(line));
    }
    while (!line.at_end()) {
      if (line.take(':')) return finish(line, std::move(name), std::move(*op), inputs, true);
      PROA_TRY(read_attribute(line, *op));
    }
    return finish(line, std::move(name), std::move(*op), inputs, false);
  }

  Status finish(Line& line, std::string name, Op op, const std::vector<ValueId>& inputs,
                bool typed) {
    auto id = graph_.add_node(std::move(op), inputs, name);
    if (!id) return line.wrong(id.error());
    PROA_TRY(define(line, name, *id));
    if (!typed) return {};
    PROA_ASSIGN(const TensorType type, line.type());
    const Value& made = graph_.value(*id);
    if (made.type == type.type && made.shape == type.shape) return {};
    return line.wrong(error::invalid_argument("'{}' is {}{}", name, data_type_name(made.type),
                                              made.shape.to_string()));
  }

  Result<ValueId> value(Line& line) {
    PROA_ASSIGN(const std::string name, line.name());
    if (name == "_") return kNoValue;
    const auto found = names_.find(name);
    if (found == names_.end()) return line.expected("a value instead of unknown '" + name + "'");
    return found->second;
  }

  Status define(Line& line, const std::string& name, ValueId id) {
    if (names_.emplace(name, id).second) return {};
    return line.wrong(error::invalid_argument("'{}' is defined twice", name));
  }

  Result<std::vector<float>> constant(Line& line, const TensorType& type) {
    const auto count = static_cast<std::size_t>(*type.shape.element_count());
    if (line.take('{')) {
      std::vector<float> numbers;
      while (!line.take('}')) {
        if (!numbers.empty()) PROA_TRY(line.want(','));
        PROA_ASSIGN(numbers.emplace_back(), line.number<float>());
      }
      if (numbers.size() != count) return line.expected(fmt::format("{} numbers", count));
      return numbers;
    }
    PROA_ASSIGN(const std::string word, line.name());
    if (word != "random" && word != "fill") return line.expected("{...}, fill(x) or random(...)");
    PROA_TRY(line.want('('));
    PROA_ASSIGN(float first, line.number<float>());
    if (word == "fill") {
      PROA_TRY(line.want(')'));
      return std::vector<float>(count, first);
    }
    PROA_TRY(line.want(','));
    PROA_ASSIGN(const float low, line.number<float>());
    PROA_TRY(line.want(','));
    PROA_ASSIGN(const float high, line.number<float>());
    PROA_TRY(line.want(')'));
    return random_numbers(static_cast<std::uint64_t>(first), count, low, high);
  }

  Graph graph_;
  std::map<std::string, ValueId> names_;
};

}  // namespace

Result<Graph> parse_graph(std::string_view text) { return Parser().parse(text); }

}  // namespace proa::engine
