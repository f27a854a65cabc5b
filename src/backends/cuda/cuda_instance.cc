#include "backends/cuda/cuda_instance.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/thread.h"

namespace proa::backends::cuda {

Result<std::unique_ptr<CudaInstance>> CudaInstance::create(
    std::unique_ptr<engine::DeviceStream> stream, const Options& options) {
  std::unique_ptr<CudaInstance> made(new CudaInstance(std::move(stream), options));
  PROA_TRY(made->allocate());
  CudaInstance* self = made.get();
  PROA_ASSIGN(made->feeder_,
              try_start_thread("proa-feed-" + options.name, [self] { self->feed(); }));
  PROA_ASSIGN(made->completer_,
              try_start_thread("proa-done-" + options.name, [self] { self->complete(); }));
  return made;
}

Status CudaInstance::allocate() {
  MutexLock lock(mutex_);
  for (int slot = 0; slot < kSlots; ++slot) {
    free_.push_back(slot);
    for (const std::size_t bytes : options_.ends->input_bytes) {
      PROA_ASSIGN(slots_[static_cast<std::size_t>(slot)].inputs.emplace_back(),
                  options_.engine->allocate_pinned(options_.device, bytes));
    }
  }
  return {};
}

CudaInstance::~CudaInstance() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (feeder_.joinable()) feeder_.join();
  if (completer_.joinable()) completer_.join();
}

void CudaInstance::start(std::unique_ptr<core::Batch> batch, Done done) {
  {
    MutexLock lock(mutex_);
    PROA_CHECK(!free_.empty(), "at most max_in_flight() batches at a time");
    const int slot = free_.back();
    free_.pop_back();
    Work& work = slots_[static_cast<std::size_t>(slot)];
    work.batch = std::move(batch);
    work.done = std::move(done);
    queued_.push_back(slot);
  }
  changed_.notify_all();
}

void CudaInstance::feed() {
  while (true) {
    int slot = 0;
    {
      MutexLock lock(mutex_);
      while (queued_.empty() && !stopping_) changed_.wait(mutex_);
      if (queued_.empty()) return;
      slot = queued_.front();
      queued_.pop_front();
    }
    if (Status status = launch(slot); !status) {
      finish(slot, std::move(status));
      continue;
    }
    {
      MutexLock lock(mutex_);
      launched_.push_back(slot);
    }
    changed_.notify_all();
  }
}

void CudaInstance::complete() {
  while (true) {
    int slot = 0;
    {
      MutexLock lock(mutex_);
      while (launched_.empty() && !stopping_) changed_.wait(mutex_);
      if (launched_.empty()) return;
      slot = launched_.front();
      launched_.pop_front();
    }
    finish(slot, stream_->wait(slot));
  }
}

Status CudaInstance::launch(int slot) {
  PROA_TRY(options_.health->status());
  Work& work = slots_[static_cast<std::size_t>(slot)];
  const GraphEnds& ends = *options_.ends;
  const std::int64_t rows = ends.binding.batches ? work.batch->size() : ends.largest;
  std::vector<std::span<const std::byte>> inputs(ends.input_bytes.size());
  for (std::size_t i = 0; i < ends.binding.inputs.size(); ++i) {
    inputs[ends.binding.inputs[i].port] = input_of(work, i);
  }
  std::vector<std::span<std::byte>> outputs;
  for (std::size_t port = 0; port < ends.output_bytes.size(); ++port) {
    const std::size_t row = ends.output_bytes[port] / static_cast<std::size_t>(ends.largest);
    const std::size_t bytes =
        rows == ends.largest ? ends.output_bytes[port] : row * static_cast<std::size_t>(rows);
    PROA_ASSIGN(work.outputs.emplace_back(), options_.pools[port]->take(bytes));
    outputs.push_back(work.outputs.back().bytes());
  }
  work.batch->inputs_ready = options_.clock->now();
  return stream_->start(slot, rows, inputs, outputs);
}

// The bytes of a configured input of the whole batch, in memory that stays until the end.
std::span<const std::byte> CudaInstance::input_of(Work& work, std::size_t input) {
  const Tensor* single = work.batch->single_input(input);
  if (single != nullptr && single->data.buffer.kind() == MemoryKind::kHostPinned) {
    work.held.push_back(single->data.buffer);
    return single->data.bytes();
  }
  const std::size_t port = options_.ends->binding.inputs[input].port;
  const std::size_t bytes = std::min(work.batch->input_bytes(input), work.inputs[port].size());
  const std::span<std::byte> to = work.inputs[port].bytes().first(bytes);
  work.batch->gather(input, to);
  return to;
}

void CudaInstance::take_outputs(Work& work) {
  const openvino::Binding& binding = options_.ends->binding;
  for (std::size_t i = 0; i < binding.outputs.size(); ++i) {
    const openvino::BoundTensor& output = binding.outputs[i];
    Tensor tensor;
    tensor.type = output.type;
    tensor.shape = options_.ends->output_shapes[output.port];
    if (!tensor.shape.empty() && tensor.shape[0] == Shape::kAny) {
      tensor.shape[0] = binding.batches ? work.batch->size() : options_.ends->largest;
    }
    tensor.data = BufferView(work.outputs[output.port]);
    work.batch->set_output(i, std::move(tensor));
  }
}

void CudaInstance::finish(int slot, Status status) {
  Work& work = slots_[static_cast<std::size_t>(slot)];
  work.batch->computed = options_.clock->now();
  if (status) {
    take_outputs(work);
  } else {
    options_.health->report(status.error());
    work.batch->fail(std::move(status).error());
  }
  work.outputs.clear();
  work.held.clear();
  std::unique_ptr<core::Batch> batch = std::move(work.batch);
  Done done = std::move(work.done);
  {
    MutexLock lock(mutex_);
    free_.push_back(slot);
  }
  done(std::move(batch));
}

}  // namespace proa::backends::cuda
