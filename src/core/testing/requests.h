#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/model_config.h"
#include "core/request.h"

namespace proa::core {

// An FP32 tensor of that shape that holds `first`, `first` + 1, ...
inline Tensor float_tensor(const Shape& shape, float first = 0) {
  const auto count = static_cast<std::size_t>(shape.element_count().value_or(0));
  Buffer buffer = Buffer::allocate(count * sizeof(float));
  for (std::size_t i = 0; i < count; ++i) {
    const float value = first + static_cast<float>(i);
    std::memcpy(buffer.data() + i * sizeof(float), &value, sizeof(float));
  }
  return Tensor{DataType::kFp32, shape, BufferView(std::move(buffer))};
}

inline std::vector<float> floats(const Tensor& tensor) {
  std::vector<float> values(tensor.data.size / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), tensor.data.data(), tensor.data.size);
  return values;
}

// A request of `rows` rows with one FP32 input of shape [rows, width] that starts with `first`; no
// model, no sink.
inline std::unique_ptr<Request> float_request(std::string id, std::int64_t rows = 1,
                                              std::int64_t width = 2, float first = 0) {
  auto request = std::make_unique<Request>();
  request->id = std::move(id);
  request->batch_size = rows;
  request->inputs.push_back(float_tensor({rows, width}, first));
  return request;
}

// A model configuration with one FP32 input and output of `dims`.
inline config::ModelConfig float_config(std::int32_t max_batch_size, Shape dims = {2}) {
  config::ModelConfig config;
  config.name = "echo";
  config.max_batch_size = max_batch_size;
  config.inputs.push_back({.name = "INPUT0", .type = DataType::kFp32, .dims = dims});
  config.outputs.push_back({.name = "OUTPUT0", .type = DataType::kFp32, .dims = dims});
  return config;
}

}  // namespace proa::core
