#pragma once

#include <memory>
#include <span>

#include "backends/image/image_options.h"
#include "backends/image/image_signature.h"
#include "base/clock.h"
#include "core/backend.h"

namespace proa::backends {

// One version of an image model: turns the picture files of requests into tensors, one picture
// after the other, on the thread of an instance. Every request gets its own answer: a picture that
// cannot be read fails its request and no other.
// Threading: thread-safe; its instances compute side by side.
class ImageModel final : public core::LoadedModel {
 public:
  ImageModel(const config::ModelConfig& config, ImageOptions options, ImageSignature signature,
             const Clock& clock);

  core::Execution execution() const override { return core::Execution::kBlocking; }
  Result<std::unique_ptr<core::Instance>> create_instance(
      const core::InstancePlacement& placement) override;

  // Sets the responses of all requests of `batch`.
  void compute(core::Batch& batch) const;

 private:
  using Files = std::vector<std::span<const std::byte>>;

  // What the pictures of a request become.
  struct Pictures {
    Tensor numbers;         // of all of them
    std::size_t bytes = 0;  // of one
    std::vector<image::Geometry> geometries;
    std::vector<image::Size> sizes;  // of the originals
  };

  Result<core::Response> answer(const core::Request& request) const;
  Result<Pictures> read_pictures(const Files& files) const;
  // Makes the numbers of the next file, which is one of `count`.
  Status add_picture(std::span<const std::byte> file, std::size_t count, Pictures& pictures) const;
  Result<Files> read_files(const Tensor& input) const;
  Result<image::Decoded> decode(std::span<const std::byte> file) const;
  // How far a JPEG may be reduced so that it does not become smaller than it is wanted.
  int jpeg_reduction(image::Size original) const;
  Tensor make_sizes(std::span<const image::Size> sizes) const;
  Tensor make_placements(std::span<const image::Geometry> geometries) const;
  // `row` for one picture, behind the number of pictures when the model batches.
  Shape rows(std::size_t count, const Shape& row) const;

  const std::string name_;
  const std::string input_name_;
  const bool batches_;
  const std::size_t output_count_;
  const DataType size_type_;
  const ImageOptions options_;
  const ImageSignature signature_;
  const Clock& clock_;
};

}  // namespace proa::backends
