#pragma once

#include <array>
#include <optional>

#include "base/result.h"
#include "image/resize.h"
#include "image/to_tensor.h"

namespace proa::image {

// How a picture is brought to the size of a tensor.
enum class Fit : std::uint8_t {
  kNone,         // as it is
  kExact,        // to `size`, whatever its proportions
  kShorterSide,  // its shorter side to size.width, the longer one in proportion, rounded down
  kLetterbox,    // as large as fits into `size`, the rest filled with `padding`
};

// What becomes of every picture: resized, cropped, turned into numbers.
struct Transform {
  Fit fit = Fit::kNone;
  Size size;
  bool pad_evenly = true;  // else the picture of a letterbox lies at the top left
  std::array<std::uint8_t, 3> padding{0, 0, 0};  // red, green, blue
  std::optional<Size> crop;                      // the centre; not with kLetterbox
  Method method;
  TensorSpec tensor;  // grey ones: greyed before the picture is resized, by the definition's luma
};

// What a transform does to a picture of one size.
struct Geometry {
  Size resized;
  Window window;     // of the resized picture: what goes into the tensor
  Size output;       // of the tensor
  int x = 0, y = 0;  // where the window lies in the output

  // A place in the original picture times the scale plus the offset is its place in the output.
  double scale_x = 1, scale_y = 1;
  double offset_x = 0, offset_y = 0;
};

// Errors: kInvalidArgument when the crop is larger than the picture, or the output has more than
// `max_pixels`.
Result<Geometry> plan_geometry(const Transform& transform, Size original, std::int64_t max_pixels);

// The size of every picture's tensor; sides that depend on the picture are 0.
Size output_size(const Transform& transform);

// Writes the numbers of a picture into `to`: transform.tensor.extents() of geometry.output. `image`
// may be smaller than the original that the geometry was planned for (a scaled decode). Changes
// `image` when the tensor is grey.
void transform_into(Image image, const Transform& transform, const Geometry& geometry,
                    std::byte* to);

}  // namespace proa::image
