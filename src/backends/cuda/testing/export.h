#pragma once

#include <memory>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/host/reference.h"

namespace ov {
class Model;
}

namespace proa::backends::cuda {

// The graph as an ov::Model that computes in FP32, so that OpenVINO can check the engine's host
// reference. Inputs of every type become FP32 parameters.
std::shared_ptr<ov::Model> export_graph(const engine::Graph& graph);

// Runs a model on the CPU in FP32; inputs are written as the parameter's type.
std::vector<engine::HostTensor> run_openvino(const std::shared_ptr<ov::Model>& model,
                                             const std::vector<engine::HostTensor>& inputs);

}  // namespace proa::backends::cuda
