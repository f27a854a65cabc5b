#include "core/batch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "core/model.h"
#include "core/reshape.h"
#include "tensor/bytes_tensor.h"

namespace proa::core {
namespace {

// Cuts the output of a batch into the rows of its requests, from the front.
class OutputSlicer {
 public:
  OutputSlicer(const Tensor& whole, std::int64_t batch_size)
      : whole_(whole),
        row_elements_(whole.shape.element_count().value_or(0) / batch_size),
        row_bytes_(whole.data.size / static_cast<std::size_t>(batch_size)) {}

  Tensor next(std::int64_t rows) {
    const std::size_t bytes = next_bytes(rows);
    Tensor slice{whole_.type, whole_.shape, {}};
    slice.shape[0] = rows;
    slice.data = share_or_copy(whole_.data.sub(offset_, bytes));
    offset_ += bytes;
    return slice;
  }

  // Goes past rows that nobody asked for.
  void skip(std::int64_t rows) { offset_ += next_bytes(rows); }

 private:
  std::size_t next_bytes(std::int64_t rows) const {
    if (whole_.type == DataType::kBytes) {
      return bytes_elements_length(whole_.data.bytes().subspan(offset_), rows * row_elements_);
    }
    return static_cast<std::size_t>(rows) * row_bytes_;
  }

  static BufferView share_or_copy(BufferView view) {
    if (view.size >= Batch::kShareSliceBytes || view.buffer.kind() == MemoryKind::kGpu) return view;
    Buffer copy = Buffer::allocate(view.size);
    if (view.size > 0) std::memcpy(copy.data(), view.data(), view.size);
    return BufferView(std::move(copy));
  }

  const Tensor& whole_;
  const std::int64_t row_elements_;
  const std::size_t row_bytes_;
  std::size_t offset_ = 0;
};

}  // namespace

Batch::Batch(std::vector<std::unique_ptr<Request>> requests) : requests_(std::move(requests)) {
  PROA_CHECK(!requests_.empty(), "a batch has requests");
  for (const auto& request : requests_) size_ += request->batch_size;
}

bool Batch::has_input(std::size_t i) const {
  return i < requests_[0]->inputs.size() && requests_[0]->inputs[i].type != DataType::kInvalid;
}

Shape Batch::input_shape(std::size_t i) const {
  Shape shape = requests_[0]->inputs[i].shape;
  if (requests_.size() > 1) shape[0] = size_;
  return shape;
}

std::size_t Batch::input_bytes(std::size_t i) const {
  std::size_t bytes = 0;
  for (const auto& request : requests_) bytes += request->inputs[i].data.size;
  return bytes;
}

const Tensor* Batch::single_input(std::size_t i) const {
  return requests_.size() == 1 ? &requests_[0]->inputs[i] : nullptr;
}

void Batch::gather(std::size_t i, std::span<std::byte> to) const {
  PROA_CHECK(to.size() >= input_bytes(i), "room for the whole input");
  std::size_t at = 0;
  for (const auto& request : requests_) {
    const BufferView& data = request->inputs[i].data;
    if (data.size > 0) std::memcpy(to.data() + at, data.data(), data.size);
    at += data.size;
  }
}

void Batch::set_output(std::size_t i, Tensor tensor) {
  if (outputs_.size() <= i) outputs_.resize(i + 1);
  outputs_[i] = std::move(tensor);
}

void Batch::set_response(std::size_t request, Response response) {
  own_responses_.resize(requests_.size());
  own_responses_[request] = std::make_unique<Response>(std::move(response));
}

void Batch::fail(Error error) { error_ = std::move(error); }

std::vector<Response> Batch::take_responses() {
  std::vector<Response> responses(requests_.size());
  if (!error_) split_outputs(responses);
  for (Response& response : responses) reshape_outputs(response);
  for (std::size_t r = 0; r < responses.size(); ++r) {
    if (r < own_responses_.size() && own_responses_[r] != nullptr) {
      responses[r] = std::move(*own_responses_[r]);
    } else if (error_) {
      responses[r] = Response{.error = *error_};
    }
  }
  outputs_.clear();
  return responses;
}

void Batch::split_outputs(std::vector<Response>& responses) {
  if (requests_.size() == 1) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (!requests_[0]->wants_output(i)) outputs_[i] = Tensor{};
    }
    responses[0].outputs = std::move(outputs_);
    return;
  }
  for (Response& response : responses) response.outputs.resize(outputs_.size());
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Tensor& whole = outputs_[i];
    if (whole.type == DataType::kInvalid) continue;
    if (whole.shape.empty() || whole.shape[0] != size_) {
      fail(
          error::internal("output {} of a batch of {} has shape {}: the model does not keep the "
                          "batch dimension; set max_batch_size: 0",
                          i, size_, whole.shape.to_string()));
      return;
    }
    OutputSlicer slicer(whole, size_);
    for (std::size_t r = 0; r < requests_.size(); ++r) {
      if (requests_[r]->wants_output(i)) {
        responses[r].outputs[i] = slicer.next(requests_[r]->batch_size);
      } else {
        slicer.skip(requests_[r]->batch_size);
      }
    }
  }
}

void Batch::reshape_outputs(Response& response) const {
  if (requests_[0]->model == nullptr) return;
  const config::ModelConfig& config = requests_[0]->model->config();
  for (std::size_t i = 0; i < std::min(response.outputs.size(), config.outputs.size()); ++i) {
    const config::Tensor& described = config.outputs[i];
    if (!described.reshape) continue;
    Shape& shape = response.outputs[i].shape;
    shape = reshaped(shape, config.batches() ? 1 : 0, *described.reshape, described.dims);
  }
}

}  // namespace proa::core
