#include "backends/image/image_model.h"

#include <cstring>

#include "core/batch.h"
#include "tensor/bytes_tensor.h"

namespace proa::backends {
namespace {

class ImageInstance final : public core::Instance {
 public:
  explicit ImageInstance(const ImageModel& model) : model_(model) {}
  void start(std::unique_ptr<core::Batch> batch, Done done) override {
    model_.compute(*batch);
    done(std::move(batch));
  }

 private:
  const ImageModel& model_;
};

template <class Number>
Tensor number_tensor(DataType type, Shape shape, const std::vector<Number>& numbers) {
  Buffer buffer = host_memory().allocate(numbers.size() * sizeof(Number));
  if (!numbers.empty()) std::memcpy(buffer.data(), numbers.data(), buffer.size());
  return Tensor{type, std::move(shape), BufferView(std::move(buffer))};
}

template <class Number>
std::vector<Number> side_lengths(std::span<const image::Size> sizes, bool width_first) {
  std::vector<Number> numbers;
  for (const image::Size& size : sizes) {
    numbers.push_back(static_cast<Number>(width_first ? size.width : size.height));
    numbers.push_back(static_cast<Number>(width_first ? size.height : size.width));
  }
  return numbers;
}

}  // namespace

ImageModel::ImageModel(const config::ModelConfig& config, ImageOptions options,
                       ImageSignature signature, const Clock& clock)
    : name_(config.name),
      input_name_(config.inputs[0].name),
      batches_(config.batches()),
      output_count_(config.outputs.size()),
      size_type_(signature.size ? config.outputs[*signature.size].type : DataType::kInt64),
      options_(std::move(options)),
      signature_(signature),
      clock_(clock) {}

Result<std::unique_ptr<core::Instance>> ImageModel::create_instance(
    const core::InstancePlacement&) {
  return std::make_unique<ImageInstance>(*this);
}

void ImageModel::compute(core::Batch& batch) const {
  batch.inputs_ready = clock_.now();  // nothing is gathered
  for (std::size_t r = 0; r < batch.requests().size(); ++r) {
    auto response = answer(*batch.requests()[r]);
    if (!response) response = core::Response{.error = std::move(response.error())};
    batch.set_response(r, std::move(*response));
  }
  batch.computed = clock_.now();
}

Result<core::Response> ImageModel::answer(const core::Request& request) const {
  if (request.cancelled()) {
    return error::cancelled("model '{}': the request was cancelled before its pictures were read",
                            name_);
  }
  PROA_ASSIGN(const Files files, read_files(request.inputs[0]));
  PROA_ASSIGN(Pictures pictures, read_pictures(files));
  core::Response response;
  response.outputs.resize(output_count_);
  if (request.wants_output(signature_.image)) {
    response.outputs[signature_.image] = std::move(pictures.numbers);
  }
  if (signature_.size && request.wants_output(*signature_.size)) {
    response.outputs[*signature_.size] = make_sizes(pictures.sizes);
  }
  if (signature_.placement && request.wants_output(*signature_.placement)) {
    response.outputs[*signature_.placement] = make_placements(pictures.geometries);
  }
  return response;
}

Result<ImageModel::Files> ImageModel::read_files(const Tensor& input) const {
  Files files;
  const std::int64_t count = batches_ ? input.shape[0] : 1;
  if (input.type == DataType::kBytes) {
    PROA_ASSIGN(const auto elements, read_bytes_elements(input.data.bytes(), count));
    for (const std::string_view element : elements) {
      files.push_back(std::as_bytes(std::span(element)));
    }
    return files;
  }
  const std::size_t length = input.data.size / static_cast<std::size_t>(count);
  for (std::int64_t i = 0; i < count; ++i) {
    files.push_back(input.data.bytes().subspan(static_cast<std::size_t>(i) * length, length));
  }
  return files;
}

Result<ImageModel::Pictures> ImageModel::read_pictures(const Files& files) const {
  Pictures pictures;
  for (std::size_t i = 0; i < files.size(); ++i) {
    Status added = add_picture(files[i], files.size(), pictures);
    if (added) continue;
    const std::string picture =
        files.size() == 1 ? "" : fmt::format(", picture {} of {}", i + 1, files.size());
    return with_context(fmt::format("model '{}', input '{}'{}", name_, input_name_, picture),
                        std::move(added.error()));
  }
  return pictures;
}

Status ImageModel::add_picture(std::span<const std::byte> file, std::size_t count,
                               Pictures& pictures) const {
  PROA_ASSIGN(image::Decoded decoded, decode(file));
  PROA_ASSIGN(
      const image::Geometry geometry,
      image::plan_geometry(options_.transform, decoded.original, options_.limits.max_pixels));
  const image::Size output = geometry.output;
  const std::size_t index = pictures.geometries.size();
  if (index == 0) {
    const image::TensorSpec& spec = options_.transform.tensor;
    const Shape extents = spec.extents(output.width, output.height);
    PROA_ASSIGN(pictures.bytes, dense_byte_size(spec.type, extents));
    Buffer buffer = host_memory().allocate(pictures.bytes * count);
    pictures.numbers = Tensor{spec.type, rows(count, extents), BufferView(std::move(buffer))};
  } else if (const image::Size first = pictures.geometries[0].output; output != first) {
    return error::invalid_argument(
        "its tensor is {} x {} and that of picture 1 is {} x {}: send them in requests of their "
        "own, or resize or crop them to one size by the model's parameters",
        output.width, output.height, first.width, first.height);
  }
  pictures.sizes.push_back(decoded.original);
  pictures.geometries.push_back(geometry);
  image::transform_into(std::move(decoded.image), options_.transform, geometry,
                        pictures.numbers.data.data() + index * pictures.bytes);
  return {};
}

Result<image::Decoded> ImageModel::decode(std::span<const std::byte> file) const {
  image::DecodeOptions options{.limits = options_.limits};
  if (options_.most_jpeg_reduction > 1) {
    options.jpeg_reduction = [this](image::Size original) { return jpeg_reduction(original); };
  }
  return image::decode_picture(file, options);
}

int ImageModel::jpeg_reduction(image::Size original) const {
  const auto geometry =
      image::plan_geometry(options_.transform, original, options_.limits.max_pixels);
  if (!geometry) return 1;  // the error comes with the whole picture
  int reduction = options_.most_jpeg_reduction;
  while (reduction > 1 && (original.width / reduction < geometry->resized.width ||
                           original.height / reduction < geometry->resized.height)) {
    reduction /= 2;
  }
  return reduction;
}

Shape ImageModel::rows(std::size_t count, const Shape& row) const {
  return batches_ ? row.with_first(static_cast<std::int64_t>(count)) : row;
}

Tensor ImageModel::make_sizes(std::span<const image::Size> sizes) const {
  const Shape shape = rows(sizes.size(), {2});
  const bool width_first = options_.width_first;
  switch (size_type_) {
    case DataType::kInt32:
      return number_tensor(size_type_, shape, side_lengths<std::int32_t>(sizes, width_first));
    case DataType::kFp32:
      return number_tensor(size_type_, shape, side_lengths<float>(sizes, width_first));
    default:
      return number_tensor(size_type_, shape, side_lengths<std::int64_t>(sizes, width_first));
  }
}

Tensor ImageModel::make_placements(std::span<const image::Geometry> geometries) const {
  std::vector<float> numbers;
  for (const image::Geometry& geometry : geometries) {
    for (const double number :
         {geometry.scale_x, geometry.scale_y, geometry.offset_x, geometry.offset_y}) {
      numbers.push_back(static_cast<float>(number));
    }
  }
  return number_tensor(DataType::kFp32, rows(geometries.size(), {4}), numbers);
}

}  // namespace proa::backends
