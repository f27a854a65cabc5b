#include "engine/graph/op.h"

#include <algorithm>
#include <cmath>

namespace proa::engine {

std::string_view op_name(const Op& op) {
  return std::visit([](const auto& each) { return each.kName; }, op);
}

std::string_view name_of(Layout layout) { return layout == Layout::kNchw ? "nchw" : "nhwc"; }

std::string_view name_of(Function function) {
  switch (function) {
    case Function::kIdentity:
      return "identity";
    case Function::kRelu:
      return "relu";
    case Function::kClamp:
      return "clamp";
    case Function::kSigmoid:
      return "sigmoid";
    case Function::kTanh:
      return "tanh";
    case Function::kExp:
      return "exp";
    case Function::kSqrt:
      return "sqrt";
    case Function::kAbs:
      return "abs";
    case Function::kNegative:
      return "negative";
    case Function::kSwish:
      return "swish";
    case Function::kHardSwish:
      return "hard_swish";
  }
  return "unknown";
}

std::string_view name_of(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::kAdd:
      return "add";
    case BinaryKind::kSubtract:
      return "subtract";
    case BinaryKind::kMultiply:
      return "multiply";
    case BinaryKind::kDivide:
      return "divide";
    case BinaryKind::kMaximum:
      return "maximum";
    case BinaryKind::kMinimum:
      return "minimum";
  }
  return "unknown";
}

std::string_view name_of(PoolKind kind) { return kind == PoolKind::kMax ? "max" : "average"; }

std::string_view name_of(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kMean:
      return "mean";
    case ReduceKind::kSum:
      return "sum";
    case ReduceKind::kMax:
      return "max";
  }
  return "unknown";
}

float apply(const Activation& act, float x) {
  switch (act.function) {
    case Function::kIdentity:
      return x;
    case Function::kRelu:
      return std::max(x, 0.0f);
    case Function::kClamp:
      return std::min(std::max(x, act.low), act.high);
    case Function::kSigmoid:
      return 1.0f / (1.0f + std::exp(-x));
    case Function::kTanh:
      return std::tanh(x);
    case Function::kExp:
      return std::exp(x);
    case Function::kSqrt:
      return std::sqrt(x);
    case Function::kAbs:
      return std::abs(x);
    case Function::kNegative:
      return -x;
    case Function::kSwish:
      return x / (1.0f + std::exp(-x));
    case Function::kHardSwish:
      return x * std::min(std::max(x + 3.0f, 0.0f), 6.0f) / 6.0f;
  }
  return x;
}

}  // namespace proa::engine
