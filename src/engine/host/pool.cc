#include <algorithm>
#include <limits>

#include "engine/graph/infer.h"
#include "engine/host/reference.h"

namespace proa::engine::host {
namespace {

HostTensor pool_nhwc(const Pool& op, const HostTensor& x, const Shape& output) {
  HostTensor y{output, {}};
  y.data.reserve(static_cast<std::size_t>(*output.element_count()));
  const std::int64_t height = x.shape[1], width = x.shape[2], channels = x.shape[3];
  const bool maximum = op.kind == PoolKind::kMax;
  for (std::int64_t n = 0; n < output[0]; ++n) {
    for (std::int64_t p = 0; p < output[1]; ++p) {
      for (std::int64_t q = 0; q < output[2]; ++q) {
        const std::int64_t top = p * op.strides[0] - op.pads_begin[0];
        const std::int64_t left = q * op.strides[1] - op.pads_begin[1];
        const std::int64_t h0 = std::max<std::int64_t>(top, 0);
        const std::int64_t h1 = std::min(top + op.kernel[0], height);
        const std::int64_t w0 = std::max<std::int64_t>(left, 0);
        const std::int64_t w1 = std::min(left + op.kernel[1], width);
        // Padding counts only as far as it was declared, not where the window runs over it.
        const std::int64_t counted =
            op.count_padding ? (std::min(top + op.kernel[0], height + op.pads_end[0]) - top) *
                                   (std::min(left + op.kernel[1], width + op.pads_end[1]) - left)
                             : (h1 - h0) * (w1 - w0);
        for (std::int64_t c = 0; c < channels; ++c) {
          float value = maximum ? -std::numeric_limits<float>::infinity() : 0.0f;
          for (std::int64_t h = h0; h < h1; ++h) {
            for (std::int64_t w = w0; w < w1; ++w) {
              const auto at =
                  static_cast<std::size_t>(((n * height + h) * width + w) * channels + c);
              value = maximum ? std::max(value, x.data[at]) : value + x.data[at];
            }
          }
          y.data.push_back(maximum ? value : value / static_cast<float>(counted));
        }
      }
    }
  }
  return y;
}

}  // namespace

HostTensor pool(const Pool& op, const HostTensor& x, const Shape& output) {
  if (op.layout == Layout::kNhwc) return pool_nhwc(op, x, output);
  const Shape turned = {output[0], output[2], output[3], output[1]};
  return transpose({0, 3, 1, 2}, pool_nhwc(op, transpose({0, 2, 3, 1}, x), turned));
}

HostTensor pack(const Pack& op, const HostTensor& x, const HostTensor* scale,
                const HostTensor* shift, const Shape& output) {
  const HostTensor turned = op.layout == Layout::kNchw ? transpose({0, 2, 3, 1}, x) : x;
  const auto channels = static_cast<std::size_t>(turned.shape[3]);
  const auto padded = static_cast<std::size_t>(op.channels);
  HostTensor y{output, std::vector<float>(static_cast<std::size_t>(*output.element_count()))};
  for (std::size_t pixel = 0; pixel < y.data.size() / padded; ++pixel) {
    for (std::size_t c = 0; c < channels; ++c) {
      float number = turned.data[pixel * channels + c];
      if (scale != nullptr) number *= scale->data[c];
      if (shift != nullptr) number += shift->data[c];
      y.data[pixel * padded + c] = number;
    }
  }
  return y;
}

HostTensor stem(const Stem& op, std::span<const HostTensor* const> inputs, const Shape& output) {
  const HostTensor& x = *inputs[0];
  const HostTensor& weight = *inputs[1];
  const ImageAxes axes = image_axes(op.layout);
  const std::int64_t height = x.shape[axes.h], width = x.shape[axes.w];
  const Pack pack_op = op.pack(weight.shape[3], DataType::kFp32);
  const HostTensor packed =
      pack(pack_op, x, inputs.size() > 3 ? inputs[3] : nullptr,
           inputs.size() > 4 ? inputs[4] : nullptr, {x.shape[0], height, width, weight.shape[3]});
  const auto extent = [&](std::int64_t size, std::size_t d) {
    return window_count(size, weight.shape[d + 1], op.strides[d], 1, op.pads_begin[d],
                        op.pads_end[d]);
  };
  const Shape conved = {x.shape[0], extent(height, 0), extent(width, 1), weight.shape[0]};
  return pool(op.pool(), conv(op.conv(), packed, weight, inputs[2], nullptr, conved), output);
}

}  // namespace proa::engine::host
