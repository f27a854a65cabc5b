#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "openvino/core/model.hpp"
#include "openvino/core/partial_shape.hpp"

namespace proa::backends::openvino::testing {

// y = 2 x + 1, FP32, names "x" and "y".
std::shared_ptr<ov::Model> affine_model(const ov::PartialShape& shape);
// "kept" = x itself, "sum" = a + b over the last axis' elements; inputs "a" and "b", FP32.
std::shared_ptr<ov::Model> sum_and_copy_model(const ov::PartialShape& shape);
// y = indexes of the non-zero elements of x ([rank, ?], INT64): its shape is known after it ran.
std::shared_ptr<ov::Model> non_zero_model(const ov::PartialShape& shape);
// y = x reshaped to `to` with numbers in the graph, as exporters leave them.
std::shared_ptr<ov::Model> hard_reshape_model(const ov::PartialShape& shape,
                                              const std::vector<std::int64_t>& to);
// y = x + `constant`, of that type, [N]: x and y.
std::shared_ptr<ov::Model> add_constant_model(const ov::element::Type& type, std::int64_t constant);
// y = x [N] of that type as FP32.
std::shared_ptr<ov::Model> to_float_model(const ov::element::Type& type);
// y = x as strings.
std::shared_ptr<ov::Model> string_model();

// Writes `model` as IR: `path` (.xml) and its .bin.
void write_ir(const std::shared_ptr<ov::Model>& model, const std::filesystem::path& path);

// The bytes of an ONNX file: y = Relu(x w + b), FP32, x [N,4], y [N,3]; inputs "x", output "y".
std::string onnx_dense_layer();
// The same with an operator that nobody knows.
std::string onnx_unknown_operator();

// The bytes of a frozen TensorFlow graph: y = Relu(x), FP32 [-1,4].
std::string tensorflow_graph();

void write_file(const std::filesystem::path& path, const std::string& bytes);

}  // namespace proa::backends::openvino::testing
