#pragma once

#include <memory>
#include <vector>

#include "core/backend.h"
#include "core/batch.h"

namespace proa::backends::openvino::testing {

// A dense tensor with these values.
template <class Value>
Tensor make_tensor(DataType type, Shape shape, const std::vector<Value>& values) {
  Buffer buffer = Buffer::allocate(values.size() * sizeof(Value));
  std::copy(values.begin(), values.end(), reinterpret_cast<Value*>(buffer.data()));
  return Tensor{type, std::move(shape), BufferView(std::move(buffer))};
}

template <class Value>
std::vector<Value> values_of(const Tensor& tensor) {
  const auto* begin = reinterpret_cast<const Value*>(tensor.data.data());
  return std::vector<Value>(begin, begin + tensor.data.size / sizeof(Value));
}

// A request with these inputs, of `rows` rows.
inline std::unique_ptr<core::Request> make_request(std::int64_t rows, std::vector<Tensor> inputs) {
  auto request = std::make_unique<core::Request>();
  request->batch_size = rows;
  request->inputs = std::move(inputs);
  return request;
}

// Runs the requests as one batch and waits for it. `instance` calls back before start() returns.
inline std::vector<core::Response> run_batch(core::Instance& instance,
                                             std::vector<std::unique_ptr<core::Request>> requests) {
  std::unique_ptr<core::Batch> finished;
  instance.start(std::make_unique<core::Batch>(std::move(requests)),
                 [&](std::unique_ptr<core::Batch> batch) { finished = std::move(batch); });
  return finished->take_responses();
}

inline core::Response run_one(core::Instance& instance, std::int64_t rows,
                              std::vector<Tensor> inputs) {
  std::vector<std::unique_ptr<core::Request>> requests;
  requests.push_back(make_request(rows, std::move(inputs)));
  return std::move(run_batch(instance, std::move(requests)).front());
}

}  // namespace proa::backends::openvino::testing
