#include "backends/openvino/warm_up.h"

#include <algorithm>
#include <cstring>

#include "backends/openvino/convert.h"
#include "backends/openvino/guard.h"
#include "backends/openvino/host_buffer.h"
#include "openvino/runtime/tensor.hpp"
#include "tensor/tensor.h"

namespace proa::backends::openvino {

WarmUp::WarmUp(ov::CompiledModel model, const Binding& binding, int streams)
    : batches_(binding.batches), outputs_(binding.outputs) {
  for (const BoundTensor& input : binding.inputs) {
    Shape row = input.model_shape;
    if (batches_ && !row.empty()) row[0] = 1;
    possible_ &= input.rank_known && row.is_fully_known();
    inputs_.push_back({input.name, input.port, to_ov_type(input.type), row, Buffer()});
  }
  for (int i = 0; possible_ && i < streams; ++i) requests_.push_back(model.create_infer_request());
}

bool WarmUp::fits(std::int64_t batch_size) const {
  std::size_t total = 0;
  const auto add = [&](DataType type, Shape shape) {
    if (batches_ && !shape.empty()) shape[0] = batch_size;
    if (!shape.is_fully_known()) return true;
    const auto bytes = dense_byte_size(type, shape);
    return bytes && !__builtin_add_overflow(total, *bytes, &total) && total <= kMostWarmBytes;
  };
  for (const Input& input : inputs_) {
    if (!add(from_ov_type(input.type), input.row)) return false;
  }
  return std::ranges::all_of(outputs_, [&](const BoundTensor& output) {
    return !output.rank_known || add(output.type, output.model_shape);
  });
}

Status WarmUp::prepare(std::int64_t batch_size) {
  for (Input& input : inputs_) {
    Shape shape = input.row;
    if (batches_) shape[0] = batch_size;
    PROA_ASSIGN(const std::size_t bytes, dense_byte_size(from_ov_type(input.type), shape));
    if (!input.zeros || input.zeros.size() < bytes) {
      PROA_ASSIGN(input.zeros, allocate_or_fail(input.name, bytes));
      std::memset(input.zeros.data(), 0, bytes);
    }
    const ov::Tensor tensor(input.type, to_ov_shape(shape), input.zeros.data());
    for (ov::InferRequest& request : requests_) request.set_input_tensor(input.port, tensor);
  }
  return {};
}

Status WarmUp::run(std::int64_t batch_size) {
  return guarded(ErrorCode::kInvalidArgument, "the first inference, on zeros, fails",
                 [&]() -> Status {
                   PROA_TRY(prepare(batch_size));
                   for (ov::InferRequest& request : requests_) request.start_async();
                   for (ov::InferRequest& request : requests_) request.wait();
                   return {};
                 });
}

std::vector<std::int64_t> warm_up_order(const config::ModelConfig& config) {
  std::vector<std::int64_t> order{1};
  if (!config.batches()) return order;
  const std::int64_t largest = std::min<std::int64_t>(config.max_batch_size, kLargestWarmSize);
  const auto add = [&](std::int64_t size) {
    if (size < 1 || size > largest) return;
    if (std::ranges::find(order, size) == order.end()) order.push_back(size);
  };
  add(largest);
  if (config.dynamic_batching) {
    for (const std::int32_t size : config.dynamic_batching->preferred_batch_sizes) add(size);
  }
  for (std::int64_t size = 2; size < largest; size *= 2) add(size);
  for (std::int64_t size = 3; size < largest; ++size) add(size);
  return order;
}

Result<std::vector<std::int64_t>> warm_within(WarmUp& warm_up, std::vector<std::int64_t> order,
                                              Duration budget, const Clock& clock) {
  const TimePoint start = clock.now();
  Duration per_row{0};
  std::vector<std::int64_t> left;
  for (const std::int64_t size : order) {
    const TimePoint before = clock.now();
    if (size != order.front() && before - start + size * per_row > budget) {
      left.push_back(size);
      continue;
    }
    PROA_TRY(warm_up.run(size));
    per_row = (clock.now() - before) / size;
  }
  return left;
}

}  // namespace proa::backends::openvino
