#include <algorithm>
#include <map>

#include "engine/graph/text.h"
#include "fmt/core.h"
#include "fmt/ranges.h"

namespace proa::engine {
namespace {

std::string text_of(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims, ",")); }
std::string text_of(bool flag) { return flag ? "true" : "false"; }
std::string text_of(std::int64_t number) { return fmt::format("{}", number); }
std::string text_of(float number) { return fmt::format("{:.9g}", number); }
std::string text_of(DataType type) { return std::string(data_type_name(type)); }
std::string text_of(const Activation& act) {
  if (act.function != Function::kClamp) return std::string(name_of(act.function));
  return fmt::format("clamp({:.9g},{:.9g})", act.low, act.high);
}
template <class Enum>
  requires std::is_enum_v<Enum>
std::string text_of(Enum kind) {
  return std::string(name_of(kind));
}

using Fields = std::vector<std::pair<std::string_view, std::string>>;

template <class OpType>
Fields all_fields(const OpType& op) {
  Fields fields;
  OpType::fields(op, [&](std::string_view name, const auto& value) {
    fields.emplace_back(name, text_of(value));
  });
  return fields;
}

std::string type_text(DataType type, const Shape& shape) {
  return std::string(data_type_name(type)) + shape.to_string();
}

bool plain_name(std::string_view name) {
  if (name.empty() || name == "_") return false;
  return std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_./-$").find(c) != std::string_view::npos;
  });
}

// A distinct name for every value: repeated ones get "$2", "$3" behind them.
class Names {
 public:
  explicit Names(const Graph& graph) {
    std::map<std::string, int> used;
    for (const Value& value : graph.values) {
      std::string base;
      std::ranges::copy_if(value.name, std::back_inserter(base),
                           [](char c) { return c != '"' && c != '\n'; });
      std::string name = base;
      for (int count = ++used[base]; count > 1 && used.contains(name); ++count) {
        name = fmt::format("{}${}", base, count);
      }
      used.emplace(name, 1);
      names_.push_back(plain_name(name) ? name : '"' + name + '"');
    }
  }
  std::string_view operator[](ValueId id) const {
    return id == kNoValue ? "_" : std::string_view(names_[static_cast<std::size_t>(id)]);
  }
  std::string list(const std::vector<ValueId>& ids) const {
    std::string text;
    for (ValueId id : ids) {
      if (!text.empty()) text += ", ";
      text += (*this)[id];
    }
    return text;
  }

 private:
  std::vector<std::string> names_;
};

std::string numbers_text(const Value& value, ConstantText constants) {
  if (constants == ConstantText::kBrief && value.elements() > 8) {
    return fmt::format("hash({:016x})", hash_bytes(value.constant->bytes()));
  }
  std::string text = "{";
  for (float number : constant_floats(value)) {
    if (text.size() > 1) text += ", ";
    text += text_of(number);
  }
  return text + "}";
}

std::string attribute_text(const Op& op) {
  std::string text;
  for (const auto& [name, value] : attributes(op)) text += fmt::format(" {}={}", name, value);
  return text;
}

}  // namespace

std::vector<std::pair<std::string_view, std::string>> attributes(const Op& op) {
  return std::visit(
      []<class OpType>(const OpType& each) {
        Fields fields = all_fields(each);
        const Fields defaults = all_fields(OpType{});
        std::size_t index = 0;
        std::erase_if(fields, [&](const auto& field) { return field == defaults[index++]; });
        return fields;
      },
      op);
}

std::string print_graph(const Graph& graph, ConstantText constants) {
  const Names names(graph);
  std::string text =
      fmt::format("graph {}\n", plain_name(graph.name) ? graph.name : '"' + graph.name + '"');
  for (ValueId id : graph.inputs) {
    text += fmt::format("input {} : {}\n", names[id],
                        type_text(graph.value(id).type, graph.value(id).shape));
  }
  std::vector<bool> used(graph.values.size());
  for (const Node& node : graph.nodes) {
    for (ValueId id : node.inputs) {
      if (id != kNoValue) used[static_cast<std::size_t>(id)] = true;
    }
  }
  for (ValueId id : graph.outputs) used[static_cast<std::size_t>(id)] = true;
  for (ValueId id = 0; static_cast<std::size_t>(id) < graph.values.size(); ++id) {
    if (!graph.is_constant(id) || !used[static_cast<std::size_t>(id)]) continue;
    const Value& value = graph.value(id);
    text += fmt::format("const {} : {} = {}\n", names[id], type_text(value.type, value.shape),
                        numbers_text(value, constants));
  }
  for (const Node& node : graph.nodes) {
    const Value& out = graph.value(node.output());
    text += fmt::format("{} = {}({}){} : {}\n", names.list(node.outputs), op_name(node.op),
                        names.list(node.inputs), attribute_text(node.op),
                        type_text(out.type, out.shape));
  }
  for (ValueId id : graph.outputs) text += fmt::format("output {}\n", names[id]);
  return text;
}

std::string signature(const Graph& graph, const Node& node) {
  std::string types;
  for (ValueId id : node.inputs) {
    if (!types.empty()) types += ", ";
    if (graph.is_constant(id)) types += "const ";
    types += id == kNoValue ? "_" : type_text(graph.value(id).type, graph.value(id).shape);
  }
  return fmt::format("{}({}){}", op_name(node.op), types, attribute_text(node.op));
}

std::vector<float> random_numbers(std::uint64_t seed, std::size_t count, float low, float high) {
  std::vector<float> numbers(count);
  std::uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (float& number : numbers) {  // splitmix64
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    number = low + (high - low) * (static_cast<float>(z >> 40) * 0x1p-24f);
  }
  return numbers;
}

std::uint64_t hash_bytes(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3u;
  return hash;
}

}  // namespace proa::engine
