#include "backends/openvino/openvino_instance.h"

#include <algorithm>
#include <utility>

#include "backends/openvino/convert.h"
#include "backends/openvino/guard.h"
#include "backends/openvino/host_buffer.h"
#include "backends/openvino/number_limits.h"
#include "base/check.h"

namespace proa::backends::openvino {
namespace {

// Tensors without elements have no bytes, but OpenVINO wants an address.
std::byte g_no_bytes[Buffer::kAlignment];

std::byte* address(std::byte* data) { return data == nullptr ? g_no_bytes : data; }

}  // namespace

OpenVinoInstance::OpenVinoInstance(ov::InferRequest request, const Binding& binding,
                                   BackgroundWarmUp* background, const Clock& clock)
    : request_(std::move(request)),
      binding_(binding),
      background_(background),
      clock_(clock),
      gathered_(binding.inputs.size()),
      outputs_(binding.outputs.size()),
      dynamic_(binding.outputs.size()) {}

void OpenVinoInstance::start(std::unique_ptr<core::Batch> batch, Done done) {
  if (background_ != nullptr) background_->busy();
  const Status status =
      guarded(ErrorCode::kInternal, "inference failed", [&] { return run(*batch); });
  if (background_ != nullptr) background_->idle();
  if (!status) batch->fail(status.error());
  done(std::move(batch));
}

Status OpenVinoInstance::run(core::Batch& batch) {
  if (!refuse_unfit_numbers(batch)) {
    batch.inputs_ready = batch.computed = clock_.now();
    return {};
  }
  PROA_TRY(set_inputs(batch));
  PROA_TRY(set_outputs(batch.size()));
  batch.inputs_ready = clock_.now();
  request_.infer();
  PROA_TRY(take_outputs(batch));
  batch.computed = clock_.now();
  return {};
}

bool OpenVinoInstance::refuse_unfit_numbers(core::Batch& batch) const {
  std::size_t refused = 0;
  for (std::size_t r = 0; r < batch.requests().size(); ++r) {
    const std::vector<Tensor>& inputs = batch.requests()[r]->inputs;
    for (std::size_t i = 0; i < binding_.inputs.size(); ++i) {
      const BoundTensor& input = binding_.inputs[i];
      if (!input.narrowed) continue;
      Status fits = check_numbers_fit(input.type, inputs[i].data.bytes());
      if (fits) continue;
      batch.set_response(
          r, core::Response{
                 .error = with_context(fmt::format("model '{}', input '{}', {}", binding_.model,
                                                   input.name, data_type_name(input.type)),
                                       std::move(fits.error()))});
      ++refused;
      break;
    }
  }
  return refused < batch.requests().size();
}

Status OpenVinoInstance::set_inputs(const core::Batch& batch) {
  for (std::size_t i = 0; i < binding_.inputs.size(); ++i) {
    const BoundTensor& input = binding_.inputs[i];
    const Shape shape = batch.input_shape(i);
    if (!shape.matches(input.model_shape)) {
      return error::invalid_argument("input {} of the model takes {}, not {}", i,
                                     input.model_shape.to_string(), shape.to_string());
    }
    std::byte* data = nullptr;
    if (const Tensor* tensor = batch.single_input(i)) {
      data = tensor->data.data();
    } else {
      const std::size_t bytes = batch.input_bytes(i);
      Buffer& memory = gathered_[i];
      if (!memory || memory.size() < bytes) {
        PROA_ASSIGN(memory, allocate_or_fail(input.name, bytes));
      }
      batch.gather(i, memory.bytes().first(bytes));
      data = memory.data();
    }
    request_.set_input_tensor(
        input.port, ov::Tensor(to_ov_type(input.type), to_ov_shape(shape), address(data)));
  }
  return {};
}

Status OpenVinoInstance::set_outputs(std::int64_t batch_size) {
  for (std::size_t i = 0; i < binding_.outputs.size(); ++i) {
    const BoundTensor& output = binding_.outputs[i];
    if (output.copy_of_input >= 0) continue;
    const ov::element::Type type = to_ov_type(output.type);
    Shape shape = output.model_shape;
    if (binding_.batches && !shape.empty()) shape[0] = batch_size;
    if (output.rank_known && shape.is_fully_known()) {
      PROA_ASSIGN(const std::size_t bytes, dense_byte_size(output.type, shape));
      PROA_ASSIGN(outputs_[i], allocate_or_fail(output.name, bytes));
      request_.set_output_tensor(output.port,
                                 ov::Tensor(type, to_ov_shape(shape), address(outputs_[i].data())));
      continue;
    }
    // OpenVINO finds out how much it is and allocates; a tensor of its own for every batch, because
    // the last one is on its way to a client.
    const std::size_t rank = output.rank_known ? shape.rank() : 1;
    dynamic_[i] = ov::Tensor(type, ov::Shape(rank, 0));
    request_.set_output_tensor(output.port, dynamic_[i]);
  }
  return {};
}

Status OpenVinoInstance::take_outputs(core::Batch& batch) {
  for (std::size_t i = 0; i < binding_.outputs.size(); ++i) {
    if (binding_.outputs[i].copy_of_input >= 0) {
      batch.set_output(i, copy_of_input(batch, i));
      continue;
    }
    PROA_ASSIGN(Tensor tensor, take_output(i, batch.size()));
    batch.set_output(i, std::move(tensor));
  }
  return {};
}

Result<Tensor> OpenVinoInstance::take_output(std::size_t i, std::int64_t batch_size) {
  const BoundTensor& output = binding_.outputs[i];
  ov::Tensor result = request_.get_output_tensor(output.port);
  Shape shape = from_ov_shape(result.get_shape());
  if (binding_.batches && (shape.empty() || shape[0] != batch_size)) {
    return error::invalid_argument(
        "output {} of the model has shape {} for a batch of {}: the model does not batch; set "
        "max_batch_size: 0",
        i, shape.to_string(), batch_size);
  }
  Tensor tensor;
  tensor.type = output.type;
  tensor.shape = std::move(shape);
  if (outputs_[i]) {
    PROA_CHECK(result.get_byte_size() == outputs_[i].size(), "OpenVINO changed a fixed output");
    tensor.data = BufferView(std::exchange(outputs_[i], Buffer()));
    return tensor;
  }
  dynamic_[i] = ov::Tensor();
  tensor.data = BufferView(Buffer::wrap(static_cast<std::byte*>(result.data()),
                                        result.get_byte_size(), [result] { (void)result; }));
  return tensor;
}

Tensor OpenVinoInstance::copy_of_input(const core::Batch& batch, std::size_t i) const {
  const std::size_t input = static_cast<std::size_t>(binding_.outputs[i].copy_of_input);
  if (const Tensor* tensor = batch.single_input(input)) return *tensor;
  Tensor copy;
  copy.type = binding_.outputs[i].type;
  copy.shape = batch.input_shape(input);
  Buffer bytes = host_memory().allocate(batch.input_bytes(input));
  std::ranges::copy(gathered_[input].bytes().first(bytes.size()), bytes.data());
  copy.data = BufferView(std::move(bytes));
  return copy;
}

}  // namespace proa::backends::openvino
