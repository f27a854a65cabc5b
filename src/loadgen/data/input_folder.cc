#include "loadgen/data/input_folder.h"

#include <algorithm>
#include <system_error>

#include "base/text.h"
#include "storage/local_folder.h"
#include "tensor/bytes_tensor.h"

namespace proa::loadgen {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxTensorBytes = std::size_t{1} << 30;
constexpr std::size_t kMaxPictureBytes = std::size_t{256} << 20;

Result<Tensor> read_text(const fs::path& path, const std::string& text, const Shape& shape) {
  std::string bytes;
  const auto lines = split_lines(text);
  for (const std::string_view line : lines) append_bytes_element(bytes, line);
  const auto count = static_cast<std::int64_t>(lines.size());
  const Shape whole = shape.is_fully_known() || shape.rank() != 1 ? shape : Shape{count};
  if (whole.element_count().value_or(-1) != count) {
    return error::invalid_argument(
        "{} has {} lines, but the input has shape {}; one element a line", path.string(), count,
        shape.to_string());
  }
  return tensor_over(DataType::kBytes, whole, bytes);
}

Result<Tensor> read_tensor_file(const fs::path& path, const TensorSignature& tensor) {
  PROA_ASSIGN(const std::string bytes, storage::read_file(path, kMaxTensorBytes));
  if (tensor.type == DataType::kBytes) return read_text(path, bytes, tensor.shape);
  if (!tensor.shape.is_fully_known()) {
    return error::invalid_argument("{}: '{}' has the open shape {}; give it with --shape {}:...",
                                   path.string(), tensor.name, tensor.shape.to_string(),
                                   tensor.name);
  }
  PROA_ASSIGN(const std::size_t wanted, dense_byte_size(tensor.type, tensor.shape));
  if (bytes.size() != wanted) {
    return error::invalid_argument("{} has {} bytes, but '{}' {} {} takes {}", path.string(),
                                   bytes.size(), tensor.name, data_type_name(tensor.type),
                                   tensor.shape.to_string(), wanted);
  }
  return tensor_over(tensor.type, tensor.shape, bytes);
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_picture_name(const fs::path& path) {
  const std::string ending = lower_case(path.extension().string());
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png" || ending == ".webp";
}

Result<std::vector<fs::path>> list_pictures(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::directory_iterator it(folder, failure), end; !failure && it != end;
       it.increment(failure)) {
    if (is_picture_name(it->path()) && is_file(it->path())) files.push_back(it->path());
  }
  if (failure) {
    return error::invalid_argument("--input-data {}: {}", folder.string(), failure.message());
  }
  std::ranges::sort(files);
  return files;
}

// What the image room calls an input: its whole shape.
image::PictureInput picture_input(const TensorSignature& input, bool batches) {
  return {input.name, input.type, batches ? input.shape.with_first(Shape::kAny) : input.shape};
}

Result<std::size_t> choose_input(const ModelSignature& model,
                                 const std::vector<TensorSignature>& inputs,
                                 const std::string& name) {
  std::vector<image::PictureInput> described;
  for (const TensorSignature& input : inputs) {
    described.push_back(picture_input(input, model.batches()));
  }
  std::size_t chosen = 0;
  if (name.empty()) {
    PROA_ASSIGN(chosen, image::find_picture_input(described));
  } else {
    const auto found = std::ranges::find(inputs, name, &TensorSignature::name);
    if (found == inputs.end()) {
      return error::invalid_argument("--picture-input {}: model '{}' has no such input", name,
                                     model.name);
    }
    chosen = static_cast<std::size_t>(found - inputs.begin());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i == chosen || inputs[i].optional) continue;
    return error::invalid_argument(
        "model '{}' wants '{}' besides the picture input '{}'; write both into a JSON file for "
        "--input-data",
        model.name, inputs[i].name, inputs[chosen].name);
  }
  return chosen;
}

// A one-dimensional UINT8 input takes the encoded file, as BYTES inputs do.
bool takes_encoded_bytes(const TensorSignature& input) {
  return input.type == DataType::kUint8 && input.shape.rank() == 1 && !input.shape.is_fully_known();
}

Result<Tensor> load_picture(const std::string& file, const TensorSignature& input, bool batches,
                            const image::PicturePlan& plan) {
  if (takes_encoded_bytes(input)) {
    return tensor_over(DataType::kUint8, Shape{static_cast<std::int64_t>(file.size())}, file);
  }
  PROA_ASSIGN(Tensor tensor, image::prepare_picture(std::as_bytes(std::span(file)), plan));
  if (batches && tensor.shape.rank() > 0) tensor.shape = tensor.shape.without_first();
  return tensor;
}

}  // namespace

bool has_input_files(const fs::path& folder, const std::vector<TensorSignature>& inputs) {
  return std::ranges::all_of(inputs, [&](const TensorSignature& input) {
    return input.optional || is_file(folder / input.name);
  });
}

Result<Element> read_input_files(const fs::path& folder, const ModelSignature& model,
                                 const std::vector<TensorSignature>& inputs) {
  Element element{.inputs = {}, .expected = {}, .origin = folder.string()};
  for (const TensorSignature& input : inputs) {
    if (input.optional && !is_file(folder / input.name)) continue;
    PROA_ASSIGN(Tensor tensor, read_tensor_file(folder / input.name, input));
    element.inputs.push_back({input.name, std::move(tensor)});
  }
  for (const TensorSignature& output : model.outputs) {
    if (!is_file(folder / output.name)) continue;
    PROA_ASSIGN(Tensor tensor, read_tensor_file(folder / output.name, output));
    element.expected.push_back({output.name, std::move(tensor)});
  }
  return element;
}

Result<PictureFolder> read_pictures(const fs::path& folder, const ModelSignature& model,
                                    const std::vector<TensorSignature>& inputs,
                                    const std::string& name, const image::PictureOptions& options) {
  PROA_ASSIGN(const std::vector<fs::path> files, list_pictures(folder));
  if (files.empty()) {
    return error::invalid_argument(
        "--input-data {}: the folder has no .jpg, .jpeg, .png or .webp, and no file for every "
        "input "
        "of model '{}'",
        folder.string(), model.name);
  }
  PROA_ASSIGN(const std::size_t chosen, choose_input(model, inputs, name));
  const TensorSignature& input = inputs[chosen];
  image::PicturePlan plan{.encoded = true};
  if (!takes_encoded_bytes(input)) {
    PROA_ASSIGN(
        plan, image::plan_picture(picture_input(input, model.batches()), model.batches(), options));
  }
  PictureFolder pictures{.elements = {}, .how = plan.to_string()};
  for (const fs::path& path : files) {
    PROA_ASSIGN(const std::string file, storage::read_file(path, kMaxPictureBytes));
    auto tensor = load_picture(file, input, model.batches(), plan);
    if (!tensor) return with_context(path.string(), std::move(tensor).error());
    if (!tensor->shape.matches(input.shape)) {
      return error::invalid_argument(
          "{}: becomes {} for input '{}', which wants {}; see --resize, --crop and --layout",
          path.string(), tensor->shape.to_string(), input.name, input.shape.to_string());
    }
    pictures.elements.push_back(
        {.inputs = {{input.name, std::move(*tensor)}}, .expected = {}, .origin = path.string()});
  }
  return pictures;
}

}  // namespace proa::loadgen
