#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/graph/infer.h"
#include "engine/host/reference.h"

namespace proa::engine::host {
namespace {

float combine(BinaryKind kind, float a, float b) {
  switch (kind) {
    case BinaryKind::kAdd:
      return a + b;
    case BinaryKind::kSubtract:
      return a - b;
    case BinaryKind::kMultiply:
      return a * b;
    case BinaryKind::kDivide:
      return a / b;
    case BinaryKind::kMaximum:
      return std::max(a, b);
    case BinaryKind::kMinimum:
      return std::min(a, b);
  }
  return a;
}

// The element strides of `shape` as seen from `output`, 0 where it broadcasts.
std::vector<std::size_t> broadcast_strides(const Shape& shape, const Shape& output) {
  std::vector<std::size_t> strides(output.rank(), 0);
  std::size_t stride = 1;
  for (std::size_t d = shape.rank(); d-- > 0;) {
    if (shape[d] != 1) strides[d + output.rank() - shape.rank()] = stride;
    stride *= static_cast<std::size_t>(shape[d]);
  }
  return strides;
}

// Calls visit(offset) once per element of `shape` in row-major order, offset by `strides`.
template <class Visit>
void for_each_offset(const Shape& shape, const std::vector<std::size_t>& strides, Visit&& visit) {
  const auto count = static_cast<std::size_t>(*shape.element_count());
  std::vector<std::int64_t> at(shape.rank(), 0);
  std::size_t offset = 0;
  for (std::size_t i = 0; i < count; ++i) {
    visit(offset);
    for (std::size_t d = shape.rank(); d-- > 0;) {
      offset += strides[d];
      if (++at[d] < shape[d]) break;
      offset -= strides[d] * static_cast<std::size_t>(shape[d]);
      at[d] = 0;
    }
  }
}

std::vector<float> spread(const HostTensor& x, const Shape& output) {
  if (x.shape == output) return x.data;
  std::vector<float> numbers;
  numbers.reserve(static_cast<std::size_t>(*output.element_count()));
  for_each_offset(output, broadcast_strides(x.shape, output),
                  [&](std::size_t offset) { numbers.push_back(x.data[offset]); });
  return numbers;
}

}  // namespace

HostTensor binary(const Binary& op, const HostTensor& a, const HostTensor& b, const Shape& output) {
  HostTensor y{output, spread(a, output)};
  const std::vector<float> right = spread(b, output);
  for (std::size_t i = 0; i < y.data.size(); ++i) {
    y.data[i] = apply(op.act, combine(op.kind, y.data[i], right[i]));
  }
  return y;
}

HostTensor unary(const Unary& op, const HostTensor& x) {
  HostTensor y = x;
  for (float& number : y.data) number = apply(op.act, number);
  return y;
}

HostTensor transpose(const Dims& order, const HostTensor& x) {
  std::vector<std::size_t> input_strides(x.shape.rank());
  std::size_t stride = 1;
  for (std::size_t d = x.shape.rank(); d-- > 0;) {
    input_strides[d] = stride;
    stride *= static_cast<std::size_t>(x.shape[d]);
  }
  HostTensor y;
  std::vector<std::size_t> strides;
  for (std::int64_t axis : order) {
    y.shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
    strides.push_back(input_strides[static_cast<std::size_t>(axis)]);
  }
  y.data.reserve(x.data.size());
  for_each_offset(y.shape, strides, [&](std::size_t offset) { y.data.push_back(x.data[offset]); });
  return y;
}

HostTensor reduce(const Reduce& op, const HostTensor& x, const Shape& output) {
  // Walk x with the strides of its result: reduced axes have stride 0.
  Shape kept = x.shape;
  for (std::int64_t axis : op.axes) kept[static_cast<std::size_t>(axis)] = 1;
  const bool maximum = op.kind == ReduceKind::kMax;
  std::vector<double> sums(static_cast<std::size_t>(*output.element_count()),
                           maximum ? -std::numeric_limits<double>::infinity() : 0.0);
  std::size_t next = 0;
  for_each_offset(x.shape, broadcast_strides(kept, x.shape), [&](std::size_t offset) {
    const double number = x.data[next++];
    sums[offset] = maximum ? std::max(sums[offset], number) : sums[offset] + number;
  });
  const double count = static_cast<double>(x.data.size()) / static_cast<double>(sums.size());
  HostTensor y{output, {}};
  for (double sum : sums) {
    y.data.push_back(static_cast<float>(op.kind == ReduceKind::kMean ? sum / count : sum));
  }
  return y;
}

HostTensor softmax(const Softmax& op, const HostTensor& x) {
  const auto rank = static_cast<std::int64_t>(x.shape.rank());
  const auto axis = static_cast<std::size_t>(op.axis < 0 ? op.axis + rank : op.axis);
  std::size_t inner = 1;
  for (std::size_t d = axis + 1; d < x.shape.rank(); ++d) {
    inner *= static_cast<std::size_t>(x.shape[d]);
  }
  const auto extent = static_cast<std::size_t>(x.shape[axis]);
  HostTensor y = x;
  for (std::size_t row = 0; row < x.data.size() / extent; ++row) {
    float* at = y.data.data() + row / inner * inner * extent + row % inner;
    float highest = -std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < extent; ++i) highest = std::max(highest, at[i * inner]);
    float sum = 0;
    for (std::size_t i = 0; i < extent; ++i)
      sum += at[i * inner] = std::exp(at[i * inner] - highest);
    for (std::size_t i = 0; i < extent; ++i) at[i * inner] /= sum;
  }
  return y;
}

HostTensor concat(const Concat& op, std::span<const HostTensor* const> inputs,
                  const Shape& output) {
  const auto axis = static_cast<std::size_t>(op.axis);
  std::size_t outer = 1;
  for (std::size_t d = 0; d < axis; ++d) outer *= static_cast<std::size_t>(output[d]);
  HostTensor y{output, {}};
  y.data.reserve(static_cast<std::size_t>(*output.element_count()));
  for (std::size_t row = 0; row < outer; ++row) {
    for (const HostTensor* input : inputs) {
      const std::size_t run = input->data.size() / outer;
      const auto begin = input->data.begin() + static_cast<std::ptrdiff_t>(row * run);
      y.data.insert(y.data.end(), begin, begin + static_cast<std::ptrdiff_t>(run));
    }
  }
  return y;
}

HostTensor pad(const Pad& op, const HostTensor& x, const Shape& output) {
  HostTensor y{output,
               std::vector<float>(static_cast<std::size_t>(*output.element_count()), op.value)};
  // Walk x with the strides of y, from where its first element lies.
  const std::vector<std::size_t> strides = broadcast_strides(output, output);
  std::size_t first = 0;
  for (std::size_t d = 0; d < output.rank(); ++d) {
    first += static_cast<std::size_t>(op.begin[d]) * strides[d];
  }
  std::size_t next = 0;
  for_each_offset(x.shape, strides,
                  [&](std::size_t offset) { y.data[first + offset] = x.data[next++]; });
  return y;
}

HostTensor lrn(const Lrn& op, const HostTensor& x) {
  const bool planes = op.layout == Layout::kNchw;
  const std::int64_t inner = planes ? x.shape[2] * x.shape[3] : 1;
  const std::int64_t channels = x.shape[planes ? 1 : 3];
  HostTensor y = x;
  for (std::size_t i = 0; i < y.data.size(); ++i) {
    const auto element = static_cast<std::int64_t>(i);
    const std::int64_t channel = element / inner % channels;
    const std::int64_t end = std::min(channel + op.size / 2 + 1, channels);
    float sum = 0;
    for (std::int64_t c = std::max<std::int64_t>(channel - op.size / 2, 0); c < end; ++c) {
      const float number = x.data[static_cast<std::size_t>(element + (c - channel) * inner)];
      sum += number * number;
    }
    y.data[i] /= std::pow(op.bias + op.alpha / static_cast<float>(op.size) * sum, op.beta);
  }
  return y;
}

HostTensor batch_norm(const BatchNorm& op, std::span<const HostTensor* const> inputs) {
  const HostTensor& x = *inputs[0];
  const std::size_t axis = op.layout == Layout::kNchw ? 1 : x.shape.rank() - 1;
  std::size_t inner = 1;
  for (std::size_t d = axis + 1; d < x.shape.rank(); ++d) {
    inner *= static_cast<std::size_t>(x.shape[d]);
  }
  const auto channels = static_cast<std::size_t>(x.shape[axis]);
  HostTensor y = x;
  for (std::size_t i = 0; i < y.data.size(); ++i) {
    const std::size_t c = i / inner % channels;
    const float scale = inputs[1]->data[c] / std::sqrt(inputs[4]->data[c] + op.epsilon);
    y.data[i] = (x.data[i] - inputs[3]->data[c]) * scale + inputs[2]->data[c];
  }
  return y;
}

}  // namespace proa::engine::host
