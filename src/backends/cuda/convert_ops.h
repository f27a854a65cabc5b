#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "engine/graph/graph.h"
#include "openvino/core/node.hpp"

namespace proa::backends::cuda {

// What the converters of single operators share while one model is imported.
struct ImportState {
  engine::Graph graph;
  std::map<ov::Output<ov::Node>, engine::ValueId> values;

  engine::ValueId input(const ov::Node& node, std::size_t i) const {
    return values.at(node.input_value(i));
  }
};

// Adds what `node` computes to the graph and returns its value; all inputs are there. Errors: a
// message that says which form of the operator the engine lacks.
using Converter = Result<engine::ValueId> (*)(ImportState& state, const ov::Node& node);

// The converter for an operator type such as "Convolution", or null.
Converter find_converter(std::string_view type);

// KServe's name for an OpenVINO element type. Errors: kUnimplemented.
Result<DataType> data_type_of(const ov::element::Type& type);

}  // namespace proa::backends::cuda
