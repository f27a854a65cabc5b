#pragma once

#include <string>
#include <vector>

#include "backends/openvino/signature.h"
#include "base/result.h"
#include "config/model_config.h"

namespace proa::backends::openvino {

// How one configured tensor and the model's own meet.
struct BoundTensor {
  std::string name;      // in the configuration
  std::size_t port = 0;  // index among the model's inputs or outputs
  DataType type = DataType::kInvalid;
  Shape model_shape;  // the model's whole shape; kAny = open. Outputs: may have less open extents
                      // than known before the model is reshaped
  bool rank_known = true;
  int copy_of_input = -1;  // outputs: the configured input that comes out unchanged
  bool narrowed = false;   // inputs: their numbers must be checked; see number_limits.h
};

// A configuration matched with a model's signature. A plain value.
struct Binding {
  std::string model;  // its name
  bool batches = false;
  std::vector<BoundTensor> inputs;   // by index in the configuration
  std::vector<BoundTensor> outputs;  // by index in the configuration
  // The shapes that the model's inputs must be given before it is compiled, by port.
  std::vector<Shape> port_shapes;
  // False when the model has these shapes already.
  bool must_reshape = false;
  // The model's file fixes a first extent that the configuration wants open: reshaping it is a
  // guess that must be checked.
  bool opens_batch_dimension = false;
};

// Errors name the tensor and both sides: names, types, ranks or extents that contradict each other,
// inputs of the model that the configuration lacks (kInvalidArgument); strings, optional and ragged
// inputs (kUnimplemented).
Result<Binding> bind(const Signature& signature, const config::ModelConfig& config);

}  // namespace proa::backends::openvino
