#include "engine/cuda/model.h"

#include <algorithm>

#include "engine/cuda/status.h"
#include "engine/graph/batch.h"
#include "engine/run/check_ends.h"
#include "fmt/ranges.h"

namespace proa::engine::cuda {
namespace {

// The model works without; the next start tunes again.
void save(TuningCache& cache, const ModelOptions& options) {
  if (options.tuning_cache.empty() || !cache.changed()) return;
  const Status saved = cache.save_file(options.tuning_cache);
  if (!saved && options.progress) {
    options.progress("tuning results are not kept: " + saved.error().message);
  }
}

}  // namespace

Result<std::unique_ptr<CudaModel>> CudaModel::load(const Graph& graph,
                                                   const ModelOptions& options) {
  std::unique_ptr<CudaModel> model(new CudaModel);
  PROA_ASSIGN(model->device_, open_device(options.device));
  PROA_ASSIGN(model->libraries_, Libraries::create());
  TuningCache cache;
  if (!options.tuning_cache.empty()) {
    PROA_ASSIGN(cache, TuningCache::load_file(options.tuning_cache));
  }
  std::vector<std::int64_t> sizes = options.buckets;
  std::ranges::sort(sizes);
  for (std::int64_t batch : sizes) {
    if (Status status = model->add_bucket(graph, batch, cache, options.tuner); !status) {
      return with_context(fmt::format("batch {}", batch), std::move(status).error());
    }
    save(cache, options);  // each: the next bucket may fail, and tuning takes minutes
    if (options.progress) {
      const ChosenKernels& kernels = model->buckets_.back().kernels;
      options.progress(fmt::format("batch {} of {}: {} kernels built, {} timings", batch,
                                   fmt::join(sizes, ", "), kernels.built, kernels.timed));
    }
  }
  // On the device by now.
  for (Bucket& bucket : model->buckets_) {
    for (Value& value : bucket.plan.graph.values) value.constant.reset();
  }
  return model;
}

Status CudaModel::add_bucket(const Graph& graph, std::int64_t batch, TuningCache& cache,
                             const TunerOptions& options) {
  Bucket bucket;
  bucket.batch = batch;
  PROA_ASSIGN(Graph resized, sized_for(graph, batch));
  PROA_ASSIGN(bucket.plan, lower(std::move(resized), Target{device_.compute_capability}));
  PROA_ASSIGN(bucket.kernels, choose_kernels(bucket.plan, device_, *libraries_, cache, options));
  place_memory(bucket.plan, taken_fusions(bucket.plan, bucket.kernels));
  for (std::size_t i = 0; i < bucket.plan.steps.size(); ++i) {
    const Node& node = work_of(bucket.plan, bucket.kernels, i).node;
    std::vector<const void*>& pointers = bucket.constants.emplace_back(node.inputs.size());
    if (bucket.kernels.by_step[i] == nullptr) continue;
    for (std::size_t j = 0; j < node.inputs.size(); ++j) {
      const ValueId id = node.inputs[j];
      if (id == kNoValue) continue;
      const Storage& storage = bucket.plan.storage_of(id);
      if (storage.place != Storage::Place::kConstant) continue;
      const Value& value = bucket.plan.graph.values[storage.index];
      const DataType type = bucket.kernels.by_step[i]->constant_type(j, value.type);
      PROA_ASSIGN(pointers[j], constants_.get(value, type));
    }
  }
  buckets_.push_back(std::move(bucket));
  return {};
}

std::string CudaModel::report() const {
  std::string text = fmt::format("{}, compute capability {}.{}\n", device_.environment,
                                 device_.compute_capability / 10, device_.compute_capability % 10);
  for (const Bucket& bucket : buckets_) {
    text += fmt::format(
        "batch {}: {} steps, arena {:.1f} MiB, workspace {:.1f} MiB, {} kernels "
        "built, {} timings\n",
        bucket.batch, bucket.plan.steps.size(),
        static_cast<double>(bucket.plan.arena_bytes) / (1 << 20),
        static_cast<double>(bucket.kernels.workspace_bytes) / (1 << 20), bucket.kernels.built,
        bucket.kernels.timed);
    for (std::size_t i = 0; i < bucket.plan.steps.size(); ++i) {
      if (bucket.kernels.by_step[i] == nullptr) continue;
      const Choice& choice = bucket.kernels.choices[i];
      text += fmt::format("  {:8.2f} us  {} {}  {}\n", choice.microseconds,
                          name_of(choice.implementation), choice.variant.substr(0, 40),
                          work_of(bucket.plan, bucket.kernels, i).signature);
    }
  }
  return text +
         fmt::format("weights {:.1f} MiB\n", static_cast<double>(constants_.bytes()) / (1 << 20));
}

Result<std::unique_ptr<ModelStream>> CudaModel::create_stream(int slots) const {
  MutexLock lock(streams_);
  return ModelStream::create(*this, slots);
}

Result<std::unique_ptr<ModelStream>> ModelStream::create(const CudaModel& model, int slots) {
  PROA_CUDA(cudaSetDevice(model.device().index));
  std::unique_ptr<ModelStream> made(new ModelStream(model));
  PROA_ASSIGN(made->libraries_, Libraries::create());
  PROA_ASSIGN(made->copy_in_, make_stream());
  PROA_ASSIGN(made->compute_, make_stream());
  PROA_ASSIGN(made->copy_out_, make_stream());
  std::size_t arena = 0, workspace = 0;
  for (const CudaModel::Bucket& bucket : model.buckets()) {
    arena = std::max(arena, bucket.plan.arena_bytes);
    workspace = std::max(workspace, bucket.kernels.workspace_bytes);
  }
  PROA_ASSIGN(made->arena_, made->allocate(arena, "the activations of a stream"));
  PROA_ASSIGN(made->workspace_, made->allocate(workspace, "the workspace of a stream"));
  for (int i = 0; i < slots; ++i) PROA_TRY(made->add_slot());
  return made;
}

ModelStream::~ModelStream() {
  // Nothing of ours may go while the device still works on it.
  for (const Stream* stream : {&copy_in_, &compute_, &copy_out_}) {
    if (*stream != nullptr) (void)cudaStreamSynchronize(stream->get());
  }
}

Result<DeviceMemory> ModelStream::allocate(std::size_t bytes, std::string_view what) {
  PROA_ASSIGN(DeviceMemory memory, DeviceMemory::allocate(bytes, what));
  PROA_CUDA(cudaMemsetAsync(memory.data(), 0, std::max<std::size_t>(bytes, 1), compute_.get()));
  bytes_ += bytes;
  return memory;
}

Status ModelStream::add_slot() {
  const Plan& largest = model_->buckets().back().plan;
  Slot slot;
  for (ValueId id : largest.graph.inputs) {
    PROA_ASSIGN(slot.inputs.emplace_back(),
                allocate(largest.graph.value(id).bytes(), "an input of a slot"));
  }
  for (ValueId id : largest.graph.outputs) {
    PROA_ASSIGN(slot.outputs.emplace_back(),
                allocate(largest.graph.value(id).bytes(), "an output of a slot"));
  }
  PROA_ASSIGN(slot.inputs_ready, make_event(false));
  PROA_ASSIGN(slot.computed, make_event(false));
  PROA_ASSIGN(slot.done, make_event(false));
  for (const CudaModel::Bucket& bucket : model_->buckets()) {
    // Once without recording: libraries prepare themselves at their first launch.
    PROA_TRY(enqueue(bucket, slot, compute_.get()));
    PROA_CUDA(cudaStreamSynchronize(compute_.get()));
    PROA_ASSIGN(slot.graphs.emplace_back(),
                CapturedGraph::capture(compute_.get(), [&](cudaStream_t stream) {
                  return enqueue(bucket, slot, stream);
                }));
  }
  slots_.push_back(std::move(slot));
  return {};
}

Status ModelStream::enqueue(const CudaModel::Bucket& bucket, const Slot& slot,
                            cudaStream_t stream) {
  const auto pointer = [&](ValueId id) -> void* {
    const Storage& storage = bucket.plan.storage_of(id);
    switch (storage.place) {
      case Storage::Place::kInput:
        return slot.inputs[storage.index].data();
      case Storage::Place::kOutput:
        return slot.outputs[storage.index].data();
      case Storage::Place::kArena:
        return arena_.at(storage.offset);
      default:
        return nullptr;
    }
  };
  for (std::size_t i = 0; i < bucket.plan.steps.size(); ++i) {
    if (bucket.kernels.by_step[i] == nullptr) continue;
    const Node& node = work_of(bucket.plan, bucket.kernels, i).node;
    Arguments arguments;
    for (std::size_t j = 0; j < node.inputs.size(); ++j) {
      const void* constant = bucket.constants[i][j];
      arguments.inputs.push_back(
          constant != nullptr || node.inputs[j] == kNoValue ? constant : pointer(node.inputs[j]));
    }
    arguments.output = pointer(node.output());
    if (node.outputs.size() > 1) arguments.second_output = pointer(node.outputs[1]);
    arguments.workspace = workspace_.data();
    if (Status status = bucket.kernels.by_step[i]->launch(arguments, *libraries_, stream);
        !status) {
      return with_context(bucket.plan.graph.value(node.output()).name, std::move(status).error());
    }
  }
  return {};
}

std::size_t ModelStream::bucket_for(std::int64_t batch) const {
  const auto buckets = model_->buckets();
  const auto found = std::ranges::lower_bound(buckets, batch, {}, &CudaModel::Bucket::batch);
  return static_cast<std::size_t>(found - buckets.begin());
}

Status ModelStream::start(int slot_number, std::int64_t batch,
                          std::span<const std::span<const std::byte>> inputs,
                          std::span<const std::span<std::byte>> outputs) {
  const std::size_t at = bucket_for(batch);
  if (batch < 1 || at == model_->buckets().size()) {
    return error::invalid_argument("a batch of {} rows fits no bucket; the largest is {}", batch,
                                   model_->buckets().back().batch);
  }
  const CudaModel::Bucket& bucket = model_->buckets()[at];
  PROA_TRY(check_ends(bucket.plan.graph, bucket.batch, batch, inputs, outputs));
  PROA_CUDA(cudaSetDevice(model_->device().index));  // whichever thread this is
  const Slot& slot = slots_[static_cast<std::size_t>(slot_number)];
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    PROA_CUDA(cudaMemcpyAsync(slot.inputs[i].data(), inputs[i].data(), inputs[i].size(),
                              cudaMemcpyHostToDevice, copy_in_.get()));
  }
  PROA_CUDA(cudaEventRecord(slot.inputs_ready.get(), copy_in_.get()));
  PROA_CUDA(cudaStreamWaitEvent(compute_.get(), slot.inputs_ready.get(), 0));
  PROA_TRY(slot.graphs[at].launch(compute_.get()));
  PROA_CUDA(cudaEventRecord(slot.computed.get(), compute_.get()));
  PROA_CUDA(cudaStreamWaitEvent(copy_out_.get(), slot.computed.get(), 0));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    PROA_CUDA(cudaMemcpyAsync(outputs[i].data(), slot.outputs[i].data(), outputs[i].size(),
                              cudaMemcpyDeviceToHost, copy_out_.get()));
  }
  PROA_CUDA(cudaEventRecord(slot.done.get(), copy_out_.get()));
  return {};
}

Status ModelStream::wait(int slot) {
  PROA_CUDA(cudaEventSynchronize(slots_[static_cast<std::size_t>(slot)].done.get()));
  return {};
}

Status ModelStream::launch(std::size_t bucket, int slot) {
  return slots_[static_cast<std::size_t>(slot)].graphs[bucket].launch(compute_.get());
}

}  // namespace proa::engine::cuda
