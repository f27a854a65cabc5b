#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "base/result.h"

namespace proa::backends::openvino {

// Refuses an ONNX file with a node that has fewer inputs than its operator needs: OpenVINO's reader
// takes them for granted, and a Conv without weights ends the process. Looks at the standard
// operators of the graph, of its sub-graphs and of its functions. What is not ONNX at all passes,
// for OpenVINO to refuse.
// Errors: kInvalidArgument naming the node, its operator, and how many inputs there are.
// Source: https://github.com/onnx/onnx/blob/main/docs/Operators.md; onnx.proto.
Status check_onnx_inputs(std::span<const std::byte> model);

// The same for a file; its weights are skipped, not read.
Status check_onnx_inputs(const std::filesystem::path& file);

}  // namespace proa::backends::openvino
