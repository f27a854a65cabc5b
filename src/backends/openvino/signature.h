#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace ov {
class Model;
}

namespace proa::backends::openvino {

// An input or output as the model file declares it.
struct TensorSignature {
  // The name clients use: the tensor's name in the file ("logits", "serving_default_input_2:0").
  std::string name;
  // Other names of the same tensor in the file.
  std::vector<std::string> other_names;
  // kInvalid when the element type is none of KServe's; `native_type` says which it is.
  DataType type = DataType::kInvalid;
  std::string native_type;
  // kAny = any extent; nothing when even the rank is open.
  std::optional<Shape> shape;
  // Outputs: the index of the input that comes out unchanged, -1 when it is computed.
  int copy_of_input = -1;
  // Inputs: OpenVINO computes them in a narrower type; see number_limits.h.
  bool narrowed = false;

  // "FP32 [-1,3,224,224]"
  std::string to_string() const;
};

// What a model file takes and gives, in the file's order. A plain value.
struct Signature {
  std::vector<TensorSignature> inputs;
  std::vector<TensorSignature> outputs;
};

Signature read_signature(const ov::Model& model);

// The index of the tensor that `name` means, -1 when there is none. An exact name goes first; then
// one that differs only in TensorFlow's ":0".
int find_tensor(std::span<const TensorSignature> tensors, std::string_view name);

// "a, b, c", for messages.
std::string list_names(std::span<const TensorSignature> tensors);

}  // namespace proa::backends::openvino
