#include <algorithm>
#include <array>

#include "engine/graph/infer.h"
#include "engine/host/reference.h"

namespace proa::engine::host {
namespace {

// Sixteen running sums: quick to compute and closer to the true sum than one.
float dot(const float* a, const float* b, std::int64_t count) {
  constexpr std::int64_t kLanes = 16;
  std::array<float, kLanes> sums{};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      sums[static_cast<std::size_t>(lane)] += a[i + lane] * b[i + lane];
    }
  }
  float sum = 0;
  for (; i < count; ++i) sum += a[i] * b[i];
  for (float lane : sums) sum += lane;
  return sum;
}

// The part of the kernel that lies on the picture, at one output row or column.
struct Window {
  std::int64_t begin, end;  // kernel positions
  std::int64_t origin;      // picture position of kernel position 0
};
Window window_at(std::int64_t out, std::int64_t stride, std::int64_t pad, std::int64_t dilation,
                 std::int64_t kernel, std::int64_t size) {
  Window window{0, kernel, out * stride - pad};
  while (window.begin < kernel && window.origin + window.begin * dilation < 0) ++window.begin;
  while (window.end > window.begin && window.origin + (window.end - 1) * dilation >= size) {
    --window.end;
  }
  return window;
}

HostTensor conv_nhwc(const Conv& op, const HostTensor& x, const HostTensor& weight,
                     const Shape& output) {
  HostTensor y{output, std::vector<float>(static_cast<std::size_t>(*output.element_count()))};
  const std::int64_t height = x.shape[1], width = x.shape[2], channels = x.shape[3];
  const std::int64_t outs = output[3], kernel_h = weight.shape[1], kernel_w = weight.shape[2];
  const std::int64_t group_in = weight.shape[3], group_out = outs / op.groups;
  float* to = y.data.data();
  for (std::int64_t n = 0; n < output[0]; ++n) {
    const float* picture = x.data.data() + n * height * width * channels;
    for (std::int64_t p = 0; p < output[1]; ++p) {
      const Window rows =
          window_at(p, op.strides[0], op.pads_begin[0], op.dilations[0], kernel_h, height);
      for (std::int64_t q = 0; q < output[2]; ++q) {
        const Window columns =
            window_at(q, op.strides[1], op.pads_begin[1], op.dilations[1], kernel_w, width);
        for (std::int64_t k = 0; k < outs; ++k) {
          const float* filter = weight.data.data() + k * kernel_h * kernel_w * group_in;
          const std::int64_t first = k / group_out * group_in;
          float sum = 0;
          for (std::int64_t r = rows.begin; r < rows.end; ++r) {
            for (std::int64_t s = columns.begin; s < columns.end; ++s) {
              const std::int64_t pixel = (rows.origin + r * op.dilations[0]) * width +
                                         columns.origin + s * op.dilations[1];
              sum += dot(picture + pixel * channels + first, filter + (r * kernel_w + s) * group_in,
                         group_in);
            }
          }
          *to++ = sum;
        }
      }
    }
  }
  return y;
}

// act(y + bias of the innermost dimension + residual)
void epilogue(const Activation& act, const HostTensor* bias, const HostTensor* residual,
              HostTensor& y) {
  const std::size_t channels = bias == nullptr ? 1 : bias->data.size();
  for (std::size_t i = 0; i < y.data.size(); ++i) {
    float sum = y.data[i];
    if (bias != nullptr) sum += bias->data[i % channels];
    if (residual != nullptr) sum += residual->data[i];
    y.data[i] = apply(act, sum);
  }
}

// Where matrix i of a batch begins, when its own batch extents broadcast to the output's.
std::size_t matrix_offset(const Shape& shape, const Shape& output, std::size_t index) {
  std::size_t offset = 0;
  std::size_t stride = 1;
  const std::size_t skipped = output.rank() - shape.rank();
  for (std::size_t d = output.rank() - 2; d-- > 0;) {
    const auto extent = static_cast<std::size_t>(output[d]);
    const std::size_t at = index % extent;
    index /= extent;
    if (d < skipped || shape[d - skipped] == 1) continue;
    offset += at * stride;
    stride *= static_cast<std::size_t>(shape[d - skipped]);
  }
  return offset * static_cast<std::size_t>(shape[shape.rank() - 2] * shape[shape.rank() - 1]);
}

// With its last two dimensions exchanged.
HostTensor flipped(const HostTensor& x) {
  Dims order;
  for (std::size_t i = 0; i < x.shape.rank(); ++i) order.push_back(static_cast<std::int64_t>(i));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(order, x);
}

}  // namespace

HostTensor conv(const Conv& op, const HostTensor& x, const HostTensor& weight,
                const HostTensor* bias, const HostTensor* residual, const Shape& output) {
  if (op.layout == Layout::kNhwc) {
    HostTensor y = conv_nhwc(op, x, weight, output);
    epilogue(op.act, bias, residual, y);
    return y;
  }
  const Dims to_nhwc = {0, 2, 3, 1};
  const Shape turned = {output[0], output[2], output[3], output[1]};
  HostTensor y = conv_nhwc(op, transpose(to_nhwc, x), transpose(to_nhwc, weight), turned);
  if (residual != nullptr) {
    const HostTensor turned_residual = transpose(to_nhwc, *residual);
    epilogue(op.act, bias, &turned_residual, y);
  } else {
    epilogue(op.act, bias, nullptr, y);
  }
  return transpose({0, 3, 1, 2}, y);
}

HostTensor matmul(const MatMul& op, const HostTensor& a, const HostTensor& b,
                  const HostTensor* bias, const HostTensor* residual, const Shape& output) {
  // Rows of both sides become contiguous: a as [m, k], b as [n, k].
  const HostTensor left = op.transpose_a ? flipped(a) : a;
  const HostTensor right = op.transpose_b ? b : flipped(b);
  const std::int64_t inner = left.shape[left.shape.rank() - 1];
  const std::int64_t m = output[output.rank() - 2], n = output[output.rank() - 1];
  HostTensor y{output, std::vector<float>(static_cast<std::size_t>(*output.element_count()))};
  const auto matrices = y.data.size() / static_cast<std::size_t>(m * n);
  float* to = y.data.data();
  for (std::size_t i = 0; i < matrices; ++i) {
    const float* rows = left.data.data() + matrix_offset(left.shape, output, i);
    const float* columns = right.data.data() + matrix_offset(right.shape, output, i);
    for (std::int64_t row = 0; row < m; ++row) {
      for (std::int64_t column = 0; column < n; ++column) {
        *to++ = dot(rows + row * inner, columns + column * inner, inner);
      }
    }
  }
  epilogue(op.act, bias, residual, y);
  return y;
}

}  // namespace proa::engine::host
