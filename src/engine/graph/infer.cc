#include "engine/graph/infer.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace proa::engine {
namespace {

using Types = std::span<const TensorType>;

bool present(Types inputs, std::size_t i) {
  return i < inputs.size() && inputs[i].type != DataType::kInvalid;
}

std::string describe(const TensorType& type) {
  return std::string(data_type_name(type.type)) + type.shape.to_string();
}

Error refuse(std::string_view op, std::string_view wants, Types inputs) {
  std::string came;
  for (const TensorType& input : inputs) {
    if (!came.empty()) came += ", ";
    came += input.type == DataType::kInvalid ? "nothing" : describe(input);
  }
  return error::invalid_argument("{} wants {}; it got ({})", op, wants, came);
}

bool all_pairs(std::initializer_list<const Dims*> lists) {
  return std::ranges::all_of(lists, [](const Dims* list) { return list->size() == 2; });
}

Status check_epilogue(std::string_view op, Types inputs, const Shape& output,
                      std::int64_t channels) {
  if (present(inputs, 2) && inputs[2].shape != Shape{channels}) {
    return refuse(op, fmt::format("a bias of shape [{}]", channels), inputs);
  }
  if (present(inputs, 3) && (inputs[3].shape != output || inputs[3].type != inputs[0].type)) {
    return refuse(op, "a residual of its output's type and shape " + output.to_string(), inputs);
  }
  return {};
}

Result<TensorType> infer_op(const Conv& op, Types inputs) {
  if (!present(inputs, 0) || !present(inputs, 1) || inputs.size() > 4 ||
      inputs[0].shape.rank() != 4 || inputs[1].shape.rank() != 4 ||
      inputs[0].type != inputs[1].type) {
    return refuse(op.kName, "a picture and weights of rank 4 and one type", inputs);
  }
  if (!all_pairs({&op.strides, &op.pads_begin, &op.pads_end, &op.dilations}) || op.groups < 1) {
    return refuse(op.kName, "two strides, pads and dilations, and groups >= 1", inputs);
  }
  const ImageAxes axes = image_axes(op.layout);
  const Shape& x = inputs[0].shape;
  const Shape& w = inputs[1].shape;  // its K, C, R, S stand where N, C, H, W do
  if (x[axes.c] != w[axes.c] * op.groups || w[axes.n] % op.groups != 0) {
    return refuse(op.kName,
                  fmt::format("input channels = weight channels x groups ({})", op.groups), inputs);
  }
  Shape out = x;
  out[axes.c] = w[axes.n];
  for (std::size_t d : {0u, 1u}) {
    const std::size_t axis = axes.h + d;
    out[axis] = window_count(x[axis], w[axis], op.strides[d], op.dilations[d], op.pads_begin[d],
                             op.pads_end[d]);
    if (out[axis] < 1) return refuse(op.kName, "a window that fits its padded input", inputs);
  }
  PROA_TRY(check_epilogue(op.kName, inputs, out, w[axes.n]));
  return TensorType{inputs[0].type, out};
}

Result<TensorType> infer_op(const MatMul& op, Types inputs) {
  if (!present(inputs, 0) || !present(inputs, 1) || inputs.size() > 4 ||
      inputs[0].shape.rank() < 2 || inputs[1].shape.rank() < 2 ||
      inputs[0].type != inputs[1].type) {
    return refuse(op.kName, "two matrices of one type", inputs);
  }
  const auto split = [](const Shape& shape, bool transpose) {
    const auto dims = shape.dims();
    std::int64_t rows = dims[dims.size() - 2], columns = dims[dims.size() - 1];
    if (transpose) std::swap(rows, columns);
    return std::tuple(Shape(dims.first(dims.size() - 2)), rows, columns);
  };
  const auto [a_batch, m, ka] = split(inputs[0].shape, op.transpose_a);
  const auto [b_batch, kb, n] = split(inputs[1].shape, op.transpose_b);
  if (ka != kb) return refuse(op.kName, "matching inner extents", inputs);
  PROA_ASSIGN(Shape out, broadcast(a_batch, b_batch));
  out.push_back(m);
  out.push_back(n);
  PROA_TRY(check_epilogue(op.kName, inputs, out, n));
  return TensorType{inputs[0].type, out};
}

Result<TensorType> infer_op(const Binary& op, Types inputs) {
  if (inputs.size() != 2 || !present(inputs, 0) || !present(inputs, 1) ||
      inputs[0].type != inputs[1].type) {
    return refuse(op.kName, "two tensors of one type", inputs);
  }
  PROA_ASSIGN(Shape out, broadcast(inputs[0].shape, inputs[1].shape));
  return TensorType{inputs[0].type, out};
}

Result<TensorType> infer_op(const Unary& op, Types inputs) {
  if (inputs.size() != 1) return refuse(op.kName, "one tensor", inputs);
  return inputs[0];
}

Result<TensorType> infer_op(const Pool& op, Types inputs) {
  if (inputs.size() != 1 || inputs[0].shape.rank() != 4 ||
      !all_pairs({&op.kernel, &op.strides, &op.pads_begin, &op.pads_end})) {
    return refuse(op.kName, "a picture of rank 4, two extents per attribute", inputs);
  }
  const ImageAxes axes = image_axes(op.layout);
  Shape out = inputs[0].shape;
  for (std::size_t d : {0u, 1u}) {
    const std::size_t axis = axes.h + d;
    out[axis] =
        window_count(out[axis], op.kernel[d], op.strides[d], 1, op.pads_begin[d], op.pads_end[d]);
    if (out[axis] < 1) return refuse(op.kName, "a window that fits its padded input", inputs);
  }
  return TensorType{inputs[0].type, out};
}

Result<TensorType> infer_op(const Reduce& op, Types inputs) {
  if (inputs.size() != 1) return refuse(op.kName, "one tensor", inputs);
  const auto rank = static_cast<std::int64_t>(inputs[0].shape.rank());
  if (!std::ranges::is_sorted(op.axes, std::less_equal<>{}) && op.axes.size() > 1) {
    return refuse(op.kName, "ascending axes", inputs);
  }
  if (std::ranges::any_of(op.axes, [&](auto axis) { return axis < 0 || axis >= rank; })) {
    return refuse(op.kName, "axes within the rank of its input", inputs);
  }
  Shape out;
  for (std::int64_t i = 0; i < rank; ++i) {
    const bool reduced = std::ranges::find(op.axes, i) != op.axes.end();
    if (!reduced) out.push_back(inputs[0].shape[static_cast<std::size_t>(i)]);
    if (reduced && op.keep_dims) out.push_back(1);
  }
  return TensorType{inputs[0].type, out};
}

Result<TensorType> infer_op(const Reshape& op, Types inputs) {
  const Shape out(op.dims);
  if (inputs.size() != 1 || !out.element_count() ||
      out.element_count() != inputs[0].shape.element_count()) {
    return refuse(op.kName, "as many elements as " + out.to_string() + " has", inputs);
  }
  return TensorType{inputs[0].type, out};
}

Result<TensorType> infer_op(const Transpose& op, Types inputs) {
  Dims sorted = op.order;
  std::ranges::sort(sorted);
  bool permutation = inputs.size() == 1 && sorted.size() == inputs[0].shape.rank();
  for (std::size_t i = 0; permutation && i < sorted.size(); ++i) {
    permutation = sorted[i] == static_cast<std::int64_t>(i);
  }
  if (!permutation) return refuse(op.kName, "an order that names each dimension once", inputs);
  Shape out;
  for (std::int64_t axis : op.order) out.push_back(inputs[0].shape[static_cast<std::size_t>(axis)]);
  return TensorType{inputs[0].type, out};
}

Result<TensorType> infer_op(const Softmax& op, Types inputs) {
  const auto rank = inputs.size() == 1 ? static_cast<std::int64_t>(inputs[0].shape.rank()) : 0;
  if (op.axis < -rank || op.axis >= rank) return refuse(op.kName, "an axis of its input", inputs);
  return inputs[0];
}

Result<TensorType> infer_op(const Convert& op, Types inputs) {
  if (inputs.size() != 1) return refuse(op.kName, "one tensor", inputs);
  return TensorType{op.type, inputs[0].shape};
}

Result<TensorType> infer_op(const Concat& op, Types inputs) {
  if (inputs.empty() || op.axis < 0 ||
      op.axis >= static_cast<std::int64_t>(inputs[0].shape.rank())) {
    return refuse(op.kName, "an axis of its inputs", inputs);
  }
  const auto axis = static_cast<std::size_t>(op.axis);
  Shape out = inputs[0].shape;
  for (const TensorType& input : inputs.subspan(1)) {
    Shape same = input.shape;
    if (same.rank() == out.rank()) same[axis] = out[axis];
    if (same != out || input.type != inputs[0].type) {
      return refuse(op.kName, "inputs that differ only along its axis", inputs);
    }
    out[axis] += input.shape[axis];
  }
  return TensorType{inputs[0].type, out};
}

Result<TensorType> infer_op(const BatchNorm& op, Types inputs) {
  if (inputs.size() != 5 || inputs[0].shape.rank() < 2) {
    return refuse(op.kName, "a tensor and four vectors", inputs);
  }
  const std::size_t axis = op.layout == Layout::kNchw ? 1 : inputs[0].shape.rank() - 1;
  for (const TensorType& vector : inputs.subspan(1)) {
    if (vector.shape != Shape{inputs[0].shape[axis]}) {
      return refuse(op.kName, "vectors of one number a channel", inputs);
    }
  }
  return inputs[0];
}

Result<TensorType> infer_op(const Lrn& op, Types inputs) {
  if (inputs.size() != 1 || inputs[0].shape.rank() != 4) {
    return refuse(op.kName, "a picture of rank 4", inputs);
  }
  if (op.size < 1 || op.size % 2 == 0) return refuse(op.kName, "an odd size", inputs);
  return inputs[0];
}

Result<TensorType> infer_op(const Pad& op, Types inputs) {
  const auto counts = [&](const Dims& dims) {
    return dims.size() == inputs[0].shape.rank() &&
           std::ranges::all_of(dims, [](std::int64_t count) { return count >= 0; });
  };
  if (inputs.size() != 1 || !counts(op.begin) || !counts(op.end)) {
    return refuse(op.kName, "one tensor, two counts from 0 for each of its dimensions", inputs);
  }
  Shape out = inputs[0].shape;
  for (std::size_t i = 0; i < out.rank(); ++i) out[i] += op.begin[i] + op.end[i];
  return TensorType{inputs[0].type, out};
}

Result<TensorType> infer_op(const Pack& op, Types inputs) {
  if (!present(inputs, 0) || inputs.size() > 3 || inputs[0].shape.rank() != 4) {
    return refuse(op.kName, "a picture of rank 4", inputs);
  }
  const ImageAxes axes = image_axes(op.layout);
  const Shape& x = inputs[0].shape;
  if (op.channels < x[axes.c]) return refuse(op.kName, "at least its input's channels", inputs);
  for (std::size_t i : {1u, 2u}) {
    if (present(inputs, i) && inputs[i].shape != Shape{x[axes.c]}) {
      return refuse(op.kName, "a scale and shift of one number a channel", inputs);
    }
  }
  return TensorType{op.type, Shape{x[axes.n], x[axes.h], x[axes.w], op.channels}};
}

Result<TensorType> infer_op(const Stem& op, Types inputs) {
  if (!present(inputs, 0) || !present(inputs, 1) || !present(inputs, 2) || inputs.size() > 5 ||
      inputs[1].shape.rank() != 4) {
    return refuse(op.kName, "a picture, weights of rank 4 and a bias", inputs);
  }
  std::vector<TensorType> parts = {inputs[0]};
  parts.insert(parts.end(), inputs.begin() + 3, inputs.end());
  PROA_ASSIGN(const TensorType packed,
              infer_op(op.pack(inputs[1].shape[3], inputs[1].type), parts));
  const TensorType conv_inputs[] = {packed, inputs[1], inputs[2]};
  PROA_ASSIGN(const TensorType conved, infer_op(op.conv(), conv_inputs));
  return infer_op(op.pool(), Types(&conved, 1));
}

}  // namespace

std::int64_t window_count(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                          std::int64_t dilation, std::int64_t pad_begin, std::int64_t pad_end) {
  if (stride < 1) return 0;
  const std::int64_t room = size + pad_begin + pad_end - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.rank(), b.rank());
  Shape out;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t da = i + a.rank() < rank ? 1 : a[i + a.rank() - rank];
    const std::int64_t db = i + b.rank() < rank ? 1 : b[i + b.rank() - rank];
    if (da != db && da != 1 && db != 1) {
      return error::invalid_argument("shapes {} and {} do not broadcast", a.to_string(),
                                     b.to_string());
    }
    out.push_back(da == 1 ? db : da);
  }
  return out;
}

Result<std::vector<TensorType>> infer(const Op& op, std::span<const TensorType> inputs) {
  PROA_ASSIGN(TensorType type,
              std::visit([&](const auto& each) { return infer_op(each, inputs); }, op));
  return std::vector<TensorType>{std::move(type)};
}

}  // namespace proa::engine
