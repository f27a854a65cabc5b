#include "loadgen/data/make_payloads.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/text.h"
#include "fmt/ranges.h"
#include "loadgen/data/assemble.h"
#include "loadgen/data/element.h"
#include "loadgen/data/generate.h"
#include "loadgen/data/input_folder.h"
#include "loadgen/data/input_json.h"
#include "storage/local_folder.h"

namespace proa::loadgen {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxJsonBytes = std::size_t{2} << 30;

struct Elements {
  std::vector<ElementStream> streams;
  std::string description;
  bool from_file = false;
};

std::string names_of(const std::vector<TensorSignature>& tensors) {
  std::vector<std::string> names;
  for (const TensorSignature& tensor : tensors) {
    names.push_back(fmt::format("{} {} {}", tensor.name, data_type_name(tensor.type),
                                tensor.shape.to_string()));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// The model's inputs with the shapes that the user gave.
Result<std::vector<TensorSignature>> apply_shapes(const ModelSignature& model,
                                                  const std::vector<GivenShape>& shapes) {
  std::vector<TensorSignature> inputs = model.inputs;
  for (const GivenShape& given : shapes) {
    const auto input = std::ranges::find(inputs, given.name, &TensorSignature::name);
    if (input == inputs.end()) {
      return error::invalid_argument("--shape {}: model '{}' has no such input; it has {}",
                                     given.name, model.name, names_of(inputs));
    }
    if (!given.shape.matches(input->shape)) {
      return error::invalid_argument(
          "--shape {}: {} does not fit the input's shape {} (which is without the batch "
          "dimension)",
          given.name, given.shape.to_string(), input->shape.to_string());
    }
    input->shape = given.shape;
  }
  return inputs;
}

Status check_known(const ModelSignature& model, const std::vector<TensorSignature>& inputs) {
  for (const TensorSignature& input : inputs) {
    if (input.optional || input.shape.is_fully_known()) continue;
    std::string example;
    for (const std::int64_t extent : input.shape) {
      example +=
          fmt::format("{}{}", example.empty() ? "" : ",", extent == Shape::kAny ? 8 : extent);
    }
    return error::invalid_argument(
        "input '{}' of model '{}' has the open shape {}; say what to send, like --shape {}:{}",
        input.name, model.name, input.shape.to_string(), input.name, example);
  }
  return {};
}

// One made-up element; optional inputs are left out.
template <class Make>
Result<Element> make_element(const std::vector<TensorSignature>& inputs, Make make) {
  Element element{.inputs = {}, .expected = {}, .origin = "made-up data"};
  for (const TensorSignature& input : inputs) {
    if (input.optional) continue;
    auto tensor = make(input.type, input.shape);
    if (!tensor) return with_context(fmt::format("input '{}'", input.name), tensor.error());
    element.inputs.push_back({input.name, std::move(*tensor)});
  }
  return element;
}

// Streams of one element: a request of a stateless model is its own stream.
Result<Elements> make_random(const std::vector<TensorSignature>& inputs,
                             const DataOptions& options) {
  RandomFill fill(options.seed, {.text = options.string_data, .length = options.string_length});
  const std::size_t batch = static_cast<std::size_t>(std::max<std::int64_t>(options.batch_size, 1));
  ElementStream stream;
  std::size_t bytes = 0;
  const std::size_t requests = std::max<std::size_t>(options.distinct, 1);
  for (std::size_t i = 0; i < requests * batch; ++i) {
    // As many whole requests as fit.
    if (i >= batch && i % batch == 0 && bytes / i * (i + batch) > options.max_bytes) break;
    PROA_ASSIGN(Element element, make_element(inputs, [&](DataType type, const Shape& shape) {
                  return fill.make(type, shape);
                }));
    for (const NamedTensor& input : element.inputs) bytes += input.tensor.data.size;
    if (i == 0 && bytes > options.max_bytes / batch) {
      return error::invalid_argument(
          "one request of -b {} would take {} bytes {} times; at most {} are held", batch, bytes,
          batch, options.max_bytes);
    }
    stream.push_back(std::move(element));
  }
  const std::size_t made = stream.size() / batch;
  return Elements{
      {std::move(stream)},
      fmt::format("{} random request{} (seed {})", made, made == 1 ? "" : "s", options.seed)};
}

Result<Elements> make_zero(const std::vector<TensorSignature>& inputs, const DataOptions& options) {
  PROA_ASSIGN(Element element, make_element(inputs, [&](DataType type, const Shape& shape) {
                return make_zeros(type, shape, options.string_data);
              }));
  return Elements{{{std::move(element)}}, "one request of zeros"};
}

Result<Elements> read_folder(const fs::path& folder, const ModelSignature& model,
                             const std::vector<TensorSignature>& inputs,
                             const DataOptions& options) {
  if (has_input_files(folder, inputs)) {
    PROA_ASSIGN(Element element, read_input_files(folder, model, inputs));
    return Elements{{{std::move(element)}}, fmt::format("the tensors in {}", folder.string())};
  }
  PROA_ASSIGN(PictureFolder pictures,
              read_pictures(folder, model, inputs, options.picture_input, options.picture));
  const std::size_t count = pictures.elements.size();
  return Elements{{std::move(pictures.elements)},
                  fmt::format("{} picture{} of {} ({})", count, count == 1 ? "" : "s",
                              folder.string(), pictures.how)};
}

Result<Elements> read_json_files(const ModelSignature& model,
                                 const std::vector<TensorSignature>& inputs,
                                 const std::vector<std::string>& files) {
  Elements elements;
  elements.from_file = true;
  std::size_t entries = 0;
  for (const std::string& file : files) {
    PROA_ASSIGN(const std::string text, storage::read_file(file, kMaxJsonBytes));
    PROA_ASSIGN(std::vector<ElementStream> streams, read_input_json(text, file, model, inputs));
    for (ElementStream& stream : streams) {
      entries += stream.size();
      elements.streams.push_back(std::move(stream));
    }
  }
  const std::size_t streams = elements.streams.size();
  elements.description =
      fmt::format("{} entr{} in {} stream{} of {}", entries, entries == 1 ? "y" : "ies", streams,
                  streams == 1 ? "" : "s", fmt::join(files, ", "));
  return elements;
}

Result<Elements> read_data(const ModelSignature& model, const std::vector<TensorSignature>& inputs,
                           const DataOptions& options) {
  const std::string source = options.input_data.empty() ? "random" : options.input_data[0];
  const bool made_up = source == "random" || source == "zero";
  std::error_code ignored;
  const bool folder = !made_up && fs::is_directory(source, ignored);
  if (options.input_data.size() > 1 && (made_up || folder)) {
    return error::invalid_argument(
        "--input-data is given {} times; several are read only when all are JSON files",
        options.input_data.size());
  }
  if (folder) return read_folder(source, model, inputs, options);
  if (!made_up) return read_json_files(model, inputs, options.input_data);
  PROA_TRY(check_known(model, inputs));
  return source == "zero" ? make_zero(inputs, options) : make_random(inputs, options);
}

}  // namespace

Result<PayloadSet> make_payloads(const ModelSignature& model, const DataOptions& options) {
  PROA_TRY(check_batch_size(model, options.batch_size));
  PROA_ASSIGN(const auto inputs, apply_shapes(model, options.shapes));
  PROA_ASSIGN(Elements elements, read_data(model, inputs, options));
  PROA_ASSIGN(PayloadSet set,
              assemble(model, options.batch_size, elements.streams, options.max_bytes));
  set.description = std::move(elements.description);
  set.from_file = elements.from_file;
  for (Payload& payload : set.payloads) payload.parameters = options.parameters;
  return set;
}

}  // namespace proa::loadgen
