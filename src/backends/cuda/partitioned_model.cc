#include "backends/cuda/partitioned_model.h"

#include <algorithm>
#include <cstring>

#include "backends/openvino/convert.h"
#include "backends/openvino/guard.h"
#include "openvino/runtime/infer_request.hpp"

namespace proa::backends::cuda {
namespace {

using Bytes = std::span<std::byte>;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// One part as a stream has it.
struct PartStream {
  std::unique_ptr<engine::DeviceStream> device;  // null: on the CPU
  ov::InferRequest cpu;
  std::int64_t rows = 1;
};

class PartitionedStream final : public engine::DeviceStream {
 public:
  PartitionedStream(const SplitModel& split, std::int64_t largest, bool batches)
      : split_(split), largest_(largest), batches_(batches) {}

  Status prepare(const std::vector<LoadedPart>& parts, engine::DeviceEngine& engine, int device,
                 int slots) {
    for (const LoadedPart& part : parts) {
      PartStream& made = parts_.emplace_back();
      if (part.device == nullptr) {
        PROA_TRY(openvino::guarded(ErrorCode::kInternal, "cannot create an inference request", [&] {
          made.cpu = ov::CompiledModel(part.cpu).create_infer_request();
        }));
        continue;
      }
      made.rows = part.rows;
      PROA_ASSIGN(made.device, part.device->make_stream(slots));
    }
    slots_.resize(at(slots));
    for (Slot& slot : slots_) {
      for (const EdgeTensor& tensor : split_.tensors) {
        PROA_ASSIGN(slot.memory.emplace_back(),
                    engine.allocate_pinned(device, tensor.bytes(largest_)));
      }
    }
    return {};
  }

  Status start(int number, std::int64_t batch, std::span<const std::span<const std::byte>> inputs,
               std::span<const Bytes> outputs) override {
    Slot& slot = slots_[at(number)];
    slot.rows = batch;
    slot.tensors.clear();
    for (std::size_t i = 0; i < split_.tensors.size(); ++i) {
      slot.tensors.push_back(slot.memory[i].bytes().first(split_.tensors[i].bytes(rows(slot))));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Bytes own = slot.tensors[at(split_.inputs[i])];
      if (inputs[i].size() != own.size()) {
        return error::invalid_argument("input '{}': {} bytes wanted for {} rows, {} came",
                                       split_.tensors[at(split_.inputs[i])].name, own.size(), batch,
                                       inputs[i].size());
      }
      // Read only: parts never write into what they read.
      slot.tensors[at(split_.inputs[i])] = {const_cast<std::byte*>(inputs[i].data()), own.size()};
    }
    slot.outputs.assign(outputs.begin(), outputs.end());
    slot.next = 0;
    return run_to_gpu(number);
  }

  Status wait(int number) override {
    Slot& slot = slots_[at(number)];
    while (slot.next < parts_.size()) {
      PROA_TRY(parts_[slot.next].device->wait(number));
      ++slot.next;
      PROA_TRY(run_to_gpu(number));
    }
    for (std::size_t i = 0; i < slot.outputs.size(); ++i) {
      const Bytes from = slot.tensors[at(split_.outputs[i])];
      std::memcpy(slot.outputs[i].data(), from.data(),
                  std::min(from.size(), slot.outputs[i].size()));
    }
    return {};
  }

  std::size_t bytes() const override {
    std::size_t sum = 0;
    for (const PartStream& part : parts_) sum += part.device == nullptr ? 0 : part.device->bytes();
    return sum;
  }

 private:
  struct Slot {
    std::vector<Buffer> memory;  // by tensor
    std::vector<Bytes> tensors;  // of the batch under way, by tensor
    std::vector<Bytes> outputs;
    std::int64_t rows = 0;
    std::size_t next = 0;  // part that runs on the GPU, or comes next
  };

  // What a first extent that is open stands for.
  std::int64_t rows(const Slot& slot) const { return batches_ ? slot.rows : largest_; }

  // Runs parts on the CPU until one is under way on the GPU or none is left.
  Status run_to_gpu(int number) {
    Slot& slot = slots_[at(number)];
    for (; slot.next < parts_.size(); ++slot.next) {
      const Part& part = split_.parts[slot.next];
      PartStream& stream = parts_[slot.next];
      if (stream.device != nullptr) {
        std::vector<std::span<const std::byte>> inputs;
        std::vector<Bytes> outputs;
        for (const int tensor : part.inputs) inputs.push_back(slot.tensors[at(tensor)]);
        for (const int tensor : part.outputs) outputs.push_back(slot.tensors[at(tensor)]);
        return stream.device->start(number, batches_ ? slot.rows : stream.rows, inputs, outputs);
      }
      PROA_TRY(run_on_cpu(part, stream, slot));
    }
    return {};
  }

  Status run_on_cpu(const Part& part, PartStream& stream, Slot& slot) {
    const auto tensor_of = [&](int index) {
      const EdgeTensor& tensor = split_.tensors[at(index)];
      Shape shape = tensor.shape;
      if (!shape.empty() && shape[0] == Shape::kAny) shape[0] = rows(slot);
      return ov::Tensor(openvino::to_ov_type(tensor.type), openvino::to_ov_shape(shape),
                        slot.tensors[at(index)].data());
    };
    return openvino::guarded(ErrorCode::kInternal, "a part on the CPU failed", [&] {
      for (std::size_t i = 0; i < part.inputs.size(); ++i) {
        stream.cpu.set_input_tensor(i, tensor_of(part.inputs[i]));
      }
      for (std::size_t i = 0; i < part.outputs.size(); ++i) {
        stream.cpu.set_output_tensor(i, tensor_of(part.outputs[i]));
      }
      stream.cpu.infer();
    });
  }

  const SplitModel& split_;
  const std::int64_t largest_;
  const bool batches_;
  std::vector<PartStream> parts_;
  std::vector<Slot> slots_;
};

}  // namespace

Result<std::unique_ptr<engine::DeviceStream>> PartitionedModel::make_stream(int slots) const {
  auto stream = std::make_unique<PartitionedStream>(split_, largest_, batches_);
  PROA_TRY(stream->prepare(parts_, engine_, device_, slots));
  return std::unique_ptr<engine::DeviceStream>(std::move(stream));
}

std::size_t PartitionedModel::constant_bytes() const {
  std::size_t sum = 0;
  for (const LoadedPart& part : parts_) {
    sum += part.device == nullptr ? 0 : part.device->constant_bytes();
  }
  return sum;
}

std::string PartitionedModel::report() const {
  std::string text = report_text(split_);
  for (const LoadedPart& part : parts_) {
    if (part.device != nullptr) text += part.device->report();
  }
  return text;
}

}  // namespace proa::backends::cuda
