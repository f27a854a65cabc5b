#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "tensor/data_type.h"

namespace proa::engine {

// The operators of the engine's graph: plain structs of attributes. `fields` visits each attribute
// with its name; printing, parsing and step signatures come from it. An attribute that equals its
// default is not printed.
//
// Tensors are dense and row-major in the order of their shape; another memory order is another
// shape, reached by an explicit Transpose. Convolutions and pools take [N,C,H,W] with weights
// [K,C/groups,R,S], or [N,H,W,C] with weights [K,R,S,C/groups], as `layout` says.
// Inputs in [] may be absent (kNoValue). To add an operator: HACKING.md.

using Dims = std::vector<std::int64_t>;

enum class Layout : std::uint8_t { kNchw, kNhwc };

// A function of one number. `low` and `high` are the bounds of kClamp.
enum class Function : std::uint8_t {
  kIdentity,
  kRelu,
  kClamp,
  kSigmoid,
  kTanh,
  kExp,
  kSqrt,
  kAbs,
  kNegative,
  kSwish,      // x * sigmoid(x)
  kHardSwish,  // x * min(max(x + 3, 0), 6) / 6
};
struct Activation {
  Function function = Function::kIdentity;
  float low = 0;
  float high = 0;
  friend bool operator==(const Activation&, const Activation&) = default;
};

enum class BinaryKind : std::uint8_t { kAdd, kSubtract, kMultiply, kDivide, kMaximum, kMinimum };
enum class PoolKind : std::uint8_t { kMax, kAverage };
enum class ReduceKind : std::uint8_t { kMean, kSum, kMax };

// act(conv(x, weight) + [bias] + [residual]). Inputs: x, weight, [bias of K numbers], [residual
// of the output's shape]. x is read as min(x, input_max) where that is above 0; `tf32` lets an FP32
// convolution round its inputs to TF32.
struct Conv {
  static constexpr std::string_view kName = "conv";
  Layout layout = Layout::kNchw;
  Dims strides = {1, 1};
  Dims pads_begin = {0, 0};
  Dims pads_end = {0, 0};
  Dims dilations = {1, 1};
  std::int64_t groups = 1;
  Activation act;
  float input_max = 0;
  bool tf32 = false;
  friend bool operator==(const Conv&, const Conv&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("layout", self.layout);
    visit("strides", self.strides);
    visit("pads_begin", self.pads_begin);
    visit("pads_end", self.pads_end);
    visit("dilations", self.dilations);
    visit("groups", self.groups);
    visit("act", self.act);
    visit("input_max", self.input_max);
    visit("tf32", self.tf32);
  }
};

// act(a x b + [bias] + [residual]) over the last two dimensions; the ones in front broadcast.
// Inputs: a, b, [bias of the last extent], [residual of the output's shape].
struct MatMul {
  static constexpr std::string_view kName = "matmul";
  bool transpose_a = false;
  bool transpose_b = false;
  Activation act;
  bool tf32 = false;  // as of Conv
  friend bool operator==(const MatMul&, const MatMul&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("transpose_a", self.transpose_a);
    visit("transpose_b", self.transpose_b);
    visit("act", self.act);
    visit("tf32", self.tf32);
  }
};

// act(a ? b) with numpy broadcasting. Inputs: a, b.
struct Binary {
  static constexpr std::string_view kName = "binary";
  BinaryKind kind = BinaryKind::kAdd;
  Activation act;
  friend bool operator==(const Binary&, const Binary&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("kind", self.kind);
    visit("act", self.act);
  }
};

// act(x). Inputs: x.
struct Unary {
  static constexpr std::string_view kName = "unary";
  Activation act;
  friend bool operator==(const Unary&, const Unary&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("act", self.act);
  }
};

// Windows over H and W. An average counts padding when `count_padding`. Inputs: x.
struct Pool {
  static constexpr std::string_view kName = "pool";
  PoolKind kind = PoolKind::kMax;
  Layout layout = Layout::kNchw;
  Dims kernel = {1, 1};
  Dims strides = {1, 1};
  Dims pads_begin = {0, 0};
  Dims pads_end = {0, 0};
  bool count_padding = false;
  friend bool operator==(const Pool&, const Pool&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("kind", self.kind);
    visit("layout", self.layout);
    visit("kernel", self.kernel);
    visit("strides", self.strides);
    visit("pads_begin", self.pads_begin);
    visit("pads_end", self.pads_end);
    visit("count_padding", self.count_padding);
  }
};

// Reduces `axes` (ascending) of x, or of min(x, input_max) where that is above 0. Inputs: x.
struct Reduce {
  static constexpr std::string_view kName = "reduce";
  ReduceKind kind = ReduceKind::kMean;
  Dims axes;
  bool keep_dims = false;
  float input_max = 0;
  friend bool operator==(const Reduce&, const Reduce&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("kind", self.kind);
    visit("axes", self.axes);
    visit("keep_dims", self.keep_dims);
    visit("input_max", self.input_max);
  }
};

// The same numbers under another shape. Inputs: x.
struct Reshape {
  static constexpr std::string_view kName = "reshape";
  Dims dims;
  friend bool operator==(const Reshape&, const Reshape&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("dims", self.dims);
  }
};

// Output dimension i is input dimension order[i]. Inputs: x.
struct Transpose {
  static constexpr std::string_view kName = "transpose";
  Dims order;
  friend bool operator==(const Transpose&, const Transpose&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("order", self.order);
  }
};

// Inputs: x.
struct Softmax {
  static constexpr std::string_view kName = "softmax";
  std::int64_t axis = -1;
  friend bool operator==(const Softmax&, const Softmax&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("axis", self.axis);
  }
};

// Inputs: x.
struct Convert {
  static constexpr std::string_view kName = "convert";
  DataType type = DataType::kFp32;
  friend bool operator==(const Convert&, const Convert&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("type", self.type);
  }
};

// Inputs: one or more.
struct Concat {
  static constexpr std::string_view kName = "concat";
  std::int64_t axis = 0;
  friend bool operator==(const Concat&, const Concat&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("axis", self.axis);
  }
};

// Inference batch normalisation over the channels of `layout`. Inputs: x, gamma, beta, mean,
// variance (C numbers each).
struct BatchNorm {
  static constexpr std::string_view kName = "batch_norm";
  Layout layout = Layout::kNchw;
  float epsilon = 1e-5f;
  friend bool operator==(const BatchNorm&, const BatchNorm&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("layout", self.layout);
    visit("epsilon", self.epsilon);
  }
};

// Local response normalisation over channels: x / (bias + alpha / size * s)^beta, s the sum of
// squares of the `size` (odd) channels around each. Inputs: x.
struct Lrn {
  static constexpr std::string_view kName = "lrn";
  Layout layout = Layout::kNchw;
  std::int64_t size = 5;
  float alpha = 1e-4f;
  float beta = 0.75f;
  float bias = 1;
  friend bool operator==(const Lrn&, const Lrn&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("layout", self.layout);
    visit("size", self.size);
    visit("alpha", self.alpha);
    visit("beta", self.beta);
    visit("bias", self.bias);
  }
};

// Puts `value` around x: begin[i] in front of dimension i, end[i] behind it. Inputs: x.
struct Pad {
  static constexpr std::string_view kName = "pad";
  Dims begin;
  Dims end;
  float value = 0;
  friend bool operator==(const Pad&, const Pad&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("begin", self.begin);
    visit("end", self.end);
    visit("value", self.value);
  }
};

// Brings a picture into the form that the first convolution wants: [N,C,H,W] or [N,H,W,C] (as
// `layout` says) of any number type becomes [N,H,W,channels] of `type`, x * [scale] + [shift] per
// channel, zeros in the added channels. Inputs: x, [scale of C numbers], [shift of C numbers].
struct Pack {
  static constexpr std::string_view kName = "pack";
  Layout layout = Layout::kNchw;
  std::int64_t channels = 4;
  DataType type = DataType::kFp16;
  friend bool operator==(const Pack&, const Pack&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("layout", self.layout);
    visit("channels", self.channels);
    visit("type", self.type);
  }
};

// The beginning of a picture network in one: pool(act(conv(pack(x), weight) + bias)), the pool over
// maxima. `layout` is the picture's; the weights are [K,R,S,channels] over packed pixels and the
// result is NHWC in the weights' type. Inputs: x, weight, bias, [scale of C numbers], [shift].
struct Stem {
  static constexpr std::string_view kName = "stem";
  Layout layout = Layout::kNchw;
  Dims strides = {2, 2};
  Dims pads_begin = {3, 3};
  Dims pads_end = {3, 3};
  Activation act;
  Dims pool_kernel = {3, 3};
  Dims pool_strides = {2, 2};
  Dims pool_pads_begin = {1, 1};
  Dims pool_pads_end = {1, 1};
  friend bool operator==(const Stem&, const Stem&) = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("layout", self.layout);
    visit("strides", self.strides);
    visit("pads_begin", self.pads_begin);
    visit("pads_end", self.pads_end);
    visit("act", self.act);
    visit("pool_kernel", self.pool_kernel);
    visit("pool_strides", self.pool_strides);
    visit("pool_pads_begin", self.pool_pads_begin);
    visit("pool_pads_end", self.pool_pads_end);
  }

  // The three operators that it stands for; `channels` are the weights'.
  Pack pack(std::int64_t channels, DataType type) const { return {layout, channels, type}; }
  Conv conv() const {
    return {Layout::kNhwc, strides, pads_begin, pads_end, {1, 1}, 1, act, 0, false};
  }
  Pool pool() const {
    return {PoolKind::kMax,  Layout::kNhwc, pool_kernel, pool_strides,
            pool_pads_begin, pool_pads_end, false};
  }
};

using Op = std::variant<Conv, MatMul, Binary, Unary, Pool, Reduce, Reshape, Transpose, Softmax,
                        Convert, Concat, BatchNorm, Lrn, Pad, Pack, Stem>;

// "conv"
std::string_view op_name(const Op& op);

// The names that the text form uses: "nhwc", "relu", "add", "mean".
std::string_view name_of(Layout layout);
std::string_view name_of(Function function);
std::string_view name_of(BinaryKind kind);
std::string_view name_of(PoolKind kind);
std::string_view name_of(ReduceKind kind);

// act(x) on the host.
float apply(const Activation& act, float x);

}  // namespace proa::engine
