#pragma once

#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/host/reference.h"

namespace proa::engine {

// Operator cases: src/engine/testing/cases/*.txt, each holding "case NAME" lines followed by a
// graph (graph/text.h). A new file or case is run by every implementation: the host reference is
// checked against OpenVINO in CI, the GPU against the host reference by tools/gpu/check_engine.sh.
struct OperatorCase {
  std::string name;  // "conv/strides"
  Graph graph;
};

// All cases of `folder`, in the order of their file names. Errors: kInvalidArgument naming file
// and case.
Result<std::vector<OperatorCase>> read_operator_cases(const std::string& folder);

// Random inputs for a graph: [0, 255] for UINT8, [-8, 8] for other integers, else [-1, 1].
std::vector<HostTensor> random_inputs(const Graph& graph);

}  // namespace proa::engine
