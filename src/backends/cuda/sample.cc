#include "backends/cuda/sample.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <random>

#include "backends/openvino/signature.h"
#include "openvino/core/model.hpp"

namespace proa::backends::cuda {
namespace {

constexpr std::uint32_t kRandomRows = 2;

ov::Shape row_shape(const ov::PartialShape& shape) {
  ov::Shape row;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    row.push_back(shape[i].is_dynamic() ? 1 : static_cast<std::size_t>(shape[i].get_length()));
  }
  return row;
}

template <class Number>
void fill(ov::Tensor& tensor, auto next) {
  std::generate_n(tensor.data<Number>(), tensor.get_size(),
                  [&] { return static_cast<Number>(next()); });
}

void fill_random(ov::Tensor& tensor, std::mt19937& random) {
  const auto normal = [&, spread = std::normal_distribution<float>()]() mutable {
    return spread(random);
  };
  const ov::element::Type type = tensor.get_element_type();
  if (type == ov::element::f32) {
    fill<float>(tensor, normal);
  } else if (type == ov::element::f16) {
    fill<ov::float16>(tensor, normal);
  } else if (type == ov::element::u8) {
    fill<std::uint8_t>(tensor, [&] { return random() % 256; });
  } else {
    // Little endian: the first byte of an integer is its value.
    auto* bytes = static_cast<std::uint8_t*>(tensor.data());
    std::fill_n(bytes, tensor.get_byte_size(), std::uint8_t{0});
    for (std::size_t i = 0; i < tensor.get_byte_size(); i += type.size()) bytes[i] = random() % 2;
  }
}

SampleRow empty_row(const ov::Model& model) {
  SampleRow row;
  for (const auto& input : model.inputs()) {
    row.emplace_back(input.get_element_type(), row_shape(input.get_partial_shape()));
  }
  return row;
}

// The file's bytes are those of one row.
Status read_row(const std::filesystem::path& path, ov::Tensor& tensor) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return error::not_found("cannot open {}", path.string());
  file.read(static_cast<char*>(tensor.data()),
            static_cast<std::streamsize>(tensor.get_byte_size()));
  if (static_cast<std::size_t>(file.gcount()) == tensor.get_byte_size() && file.peek() == EOF) {
    return {};
  }
  return error::invalid_argument("{} does not hold the {} bytes of one row", path.string(),
                                 tensor.get_byte_size());
}

// The files of a sample as a row. Nothing when it has other inputs or, where extents are open,
// those of other shapes.
Result<std::optional<SampleRow>> row_of(const config::WarmUp& sample, const ov::Model& model,
                                        const std::filesystem::path& folder) {
  const openvino::Signature signature = openvino::read_signature(model);
  SampleRow row = empty_row(model);
  if (sample.inputs.size() != row.size()) return std::nullopt;
  for (const auto& [name, input] : sample.inputs) {
    const int port = openvino::find_tensor(signature.inputs, name);
    if (port < 0) return error::invalid_argument("the model has no input '{}'", name);
    ov::Tensor& tensor = row[static_cast<std::size_t>(port)];
    const auto elements = static_cast<std::int64_t>(tensor.get_size());
    const bool fits = input.dims.element_count() == elements;
    if (!fits || input.data != config::WarmUp::Data::kFile) return std::nullopt;
    PROA_TRY(read_row(folder / input.file, tensor));
  }
  return row;
}

}  // namespace

SampleRow random_row(const ov::Model& model, std::uint32_t seed) {
  std::mt19937 random(seed);
  SampleRow row = empty_row(model);
  for (ov::Tensor& tensor : row) fill_random(tensor, random);
  return row;
}

Result<std::vector<SampleRow>> sample_rows(const ov::Model& model,
                                           const config::ModelConfig& config,
                                           const std::filesystem::path& warm_up_folder) {
  std::vector<SampleRow> rows;
  for (const config::WarmUp& sample : config.warm_ups) {
    auto row = row_of(sample, model, warm_up_folder);
    if (!row) {
      return with_context(fmt::format("model_warmup '{}'", sample.name), std::move(row).error());
    }
    if (*row) rows.push_back(**std::move(row));
  }
  if (!rows.empty()) return rows;
  for (std::uint32_t seed = 1; seed <= kRandomRows; ++seed) rows.push_back(random_row(model, seed));
  return rows;
}

}  // namespace proa::backends::cuda
