#include "loadgen/data/input_json.h"

#include <algorithm>
#include <optional>

#include "fmt/ranges.h"
#include "loadgen/data/json_tensor.h"
#include "proto/nearest_name.h"
#include "protocol/json_source.h"
#include "simdjson.h"

namespace proa::loadgen {
namespace {

namespace ondemand = simdjson::ondemand;

// `data` or `validation_data`: the tensors of each entry of each stream.
struct Section {
  std::vector<std::vector<std::vector<NamedTensor>>> streams;
  bool nested = false;  // the entries were arrays
};

class Reader {
 public:
  Reader(const protocol::JsonSource& source, const std::string& file)
      : source_(source), file_(file) {}

  Result<Section> read_section(ondemand::value& value, std::string_view name,
                               const std::vector<TensorSignature>& tensors) {
    Section section;
    std::size_t index = 0;
    PROA_TRY(source_.for_each_item(value, name, [&](ondemand::value& item) -> Status {
      const std::string where = fmt::format("{}[{}]", name, index);
      PROA_ASSIGN(const bool nested, is_array(item, where));
      if (index > 0 && nested != section.nested) {
        return error::invalid_argument(
            "{}: {} is {}, but the entries before it are {}; streams (arrays) and entries "
            "(objects) do not mix",
            file_, where, nested ? "an array" : "an object", section.nested ? "arrays" : "objects");
      }
      section.nested = nested;
      if (nested || index == 0) section.streams.emplace_back();
      ++index;
      if (nested) return read_stream(item, where, tensors, section.streams.back());
      PROA_ASSIGN(auto entry, read_entry(item, where, tensors));
      section.streams.back().push_back(std::move(entry));
      return {};
    }));
    return section;
  }

 private:
  Result<bool> is_array(ondemand::value& item, const std::string& where) {
    ondemand::json_type type;
    if (const auto code = item.type().get(type)) return source_.syntax_error(code);
    if (type == ondemand::json_type::array) return true;
    if (type == ondemand::json_type::object) return false;
    return with_context(file_, source_.wanted(item, where, "an object or an array of objects"));
  }

  Status read_stream(ondemand::value& value, const std::string& where,
                     const std::vector<TensorSignature>& tensors,
                     std::vector<std::vector<NamedTensor>>& stream) {
    return source_.for_each_item(value, where, [&](ondemand::value& item) -> Status {
      PROA_ASSIGN(auto entry,
                  read_entry(item, fmt::format("{}[{}]", where, stream.size()), tensors));
      stream.push_back(std::move(entry));
      return {};
    });
  }

  Result<std::vector<NamedTensor>> read_entry(ondemand::value& value, const std::string& where,
                                              const std::vector<TensorSignature>& tensors) {
    ondemand::object object;
    if (value.get_object().get(object)) {
      return with_context(file_, source_.wanted(value, where, "an object with a member a tensor"));
    }
    std::vector<std::optional<Tensor>> found(tensors.size());
    const auto on_member = [&](std::string_view name, ondemand::value& member) -> Status {
      const auto tensor = std::ranges::find(tensors, name, &TensorSignature::name);
      if (tensor == tensors.end()) return unknown_name(where, name, tensors);
      auto read = read_json_tensor(source_, member, *tensor);
      if (!read) {
        return with_context(fmt::format("{}: {}.{}", file_, where, tensor->name),
                            std::move(read).error());
      }
      found[static_cast<std::size_t>(tensor - tensors.begin())] = std::move(*read);
      return {};
    };
    PROA_TRY(source_.for_each_member(object, on_member));
    std::vector<NamedTensor> entry;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (found[i]) entry.push_back({tensors[i].name, std::move(*found[i])});
    }
    return entry;
  }

  Error unknown_name(const std::string& where, std::string_view name,
                     const std::vector<TensorSignature>& tensors) {
    std::vector<std::string_view> known;
    for (const TensorSignature& tensor : tensors) known.push_back(tensor.name);
    const std::string_view nearest = proto::nearest_name(name, known);
    return error::invalid_argument(
        "{}: {} names the tensor '{}', which the model does not have; {}", file_, where, name,
        nearest.empty() ? fmt::format("it has {}", fmt::join(known, ", "))
                        : fmt::format("is it '{}'?", nearest));
  }

  const protocol::JsonSource& source_;
  const std::string& file_;
};

// Where an entry stands in the file.
std::string origin_of(const std::string& file, const Section& data, std::size_t stream,
                      std::size_t entry) {
  return data.nested ? fmt::format("{}: data[{}][{}]", file, stream, entry)
                     : fmt::format("{}: data[{}]", file, entry);
}

Status check_complete(const Element& element, const std::vector<TensorSignature>& inputs) {
  for (const TensorSignature& input : inputs) {
    if (input.optional ||
        std::ranges::find(element.inputs, input.name, &NamedTensor::name) != element.inputs.end()) {
      continue;
    }
    return error::invalid_argument("{} has no input '{}', which the model wants ({} {})",
                                   element.origin, input.name, data_type_name(input.type),
                                   input.shape.to_string());
  }
  return {};
}

Status check_alike(const std::string& file, const Section& data, const Section& validation) {
  bool alike = data.streams.size() == validation.streams.size();
  for (std::size_t i = 0; alike && i < data.streams.size(); ++i) {
    alike = data.streams[i].size() == validation.streams[i].size();
  }
  if (alike) return {};
  return error::invalid_argument(
      "{}: validation_data must have as many streams and entries as data, so that each entry has "
      "its answer",
      file);
}

Result<std::vector<ElementStream>> combine(const std::string& file, Section data,
                                           std::optional<Section> validation,
                                           const std::vector<TensorSignature>& inputs) {
  if (validation) PROA_TRY(check_alike(file, data, *validation));
  std::vector<ElementStream> streams(data.streams.size());
  for (std::size_t i = 0; i < data.streams.size(); ++i) {
    for (std::size_t k = 0; k < data.streams[i].size(); ++k) {
      Element element{.inputs = std::move(data.streams[i][k]),
                      .expected = {},
                      .origin = origin_of(file, data, i, k)};
      if (validation) element.expected = std::move(validation->streams[i][k]);
      PROA_TRY(check_complete(element, inputs));
      streams[i].push_back(std::move(element));
    }
    if (streams[i].empty()) return error::invalid_argument("{}: data[{}] is empty", file, i);
  }
  return streams;
}

}  // namespace

Result<std::vector<ElementStream>> read_input_json(std::string_view text, const std::string& file,
                                                   const ModelSignature& model,
                                                   const std::vector<TensorSignature>& inputs) {
  const simdjson::padded_string padded(text);
  ondemand::parser parser;
  ondemand::document document;
  const protocol::JsonSource source(padded, &document);
  ondemand::object root;
  auto code = parser.iterate(padded).get(document);
  if (code == simdjson::SUCCESS) code = document.get_object().get(root);
  if (code == simdjson::INCORRECT_TYPE) {
    return error::invalid_argument("{}: wanted an object with the member \"data\"", file);
  }
  if (code != simdjson::SUCCESS) return with_context(file, source.syntax_error(code));

  Reader reader(source, file);
  std::optional<Section> data;
  std::optional<Section> validation;
  const Status read =
      source.for_each_member(root, [&](std::string_view name, ondemand::value& value) -> Status {
        if (name == "data") {
          PROA_ASSIGN(data, reader.read_section(value, name, inputs));
        } else if (name == "validation_data") {
          PROA_ASSIGN(validation, reader.read_section(value, name, model.outputs));
        }
        return {};
      });
  if (!read) {
    // What the JSON walk itself found has a place, but not the file.
    return read.error().message.starts_with(file) ? read.error() : with_context(file, read.error());
  }
  if (!data || data->streams.empty()) {
    return error::invalid_argument(
        "{}: there is nothing in \"data\"; wanted a list with an object for each request", file);
  }
  return combine(file, std::move(*data), std::move(validation), inputs);
}

}  // namespace proa::loadgen
