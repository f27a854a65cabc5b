#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "image/resize.h"
#include "image/to_tensor.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"
#include "tensor/tensor.h"

namespace proa::image {

// From a picture file to a model's input: what is done is worked out once from the input's shape
// and what the user said, then done to every file.

// How pictures become input; what is not given follows from the input's shape. The fields are
// flags of the same name, and errors call them so.
struct PictureOptions {
  std::string mean = "127";        // one number, or one per channel
  std::string scale = "1/128";     // the same; a number or a fraction
  std::string resize;              // "256": the short side; "320x240": both; "none"
  std::string crop;                // "224", "320x240", "none"
  std::string layout = "auto";     // auto, nchw, nhwc
  std::string channels = "auto";   // auto, rgb, bgr, grey
  std::string filter = "bicubic";  // bicubic, bilinear
};

// An input of a model; `shape` is whole, Shape::kAny = any extent.
struct PictureInput {
  std::string name;
  DataType type = DataType::kInvalid;
  Shape shape;
};

// What is done to a picture, worked out for one input.
struct PicturePlan {
  bool encoded = false;  // BYTES input: the file goes as it is
  std::optional<int> short_side;
  struct Size {
    int width, height;
  };
  std::optional<Size> exact;
  std::optional<Size> crop;
  Filter filter = Filter::kBicubic;
  TensorSpec tensor;
  std::string mean, scale;  // as the user wrote them
  bool drop_batch = false;  // the input has no batch dimension

  // "short side 256 bicubic, centre crop 224x224, (x - 127) * 1/128, FP32 NCHW", for people.
  std::string to_string() const;
};

// Which input takes pictures: the only one, or the one that looks like a picture.
// Errors: kInvalidArgument listing the inputs.
Result<std::size_t> find_picture_input(std::span<const PictureInput> inputs);

// Defaults: crop to the input's height and width (224 where they are open), before that the short
// side to 256/224 of it; inputs that are not square are resized to their size as a whole.
// `batches`: the first extent of the shape is the batch.
// Errors: kInvalidArgument naming the option or the input.
Result<PicturePlan> plan_picture(const PictureInput& input, bool batches,
                                 const PictureOptions& options);

// The tensor of one picture file, its batch dimension 1 included where the input has one.
// Errors: kInvalidArgument, decode()'s, or when the crop is larger than the picture.
Result<Tensor> prepare_picture(std::span<const std::byte> file, const PicturePlan& plan);

}  // namespace proa::image
