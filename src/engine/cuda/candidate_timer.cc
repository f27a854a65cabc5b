#include "engine/cuda/candidate_timer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/cuda/operands.h"
#include "engine/cuda/status.h"

namespace proa::engine::cuda {
namespace {

constexpr std::size_t kSmallActivations = std::size_t{16} << 20;
constexpr std::size_t kRotatedWeights = std::size_t{48} << 20;
constexpr std::size_t kRotatedAll = std::size_t{200} << 20;
constexpr std::size_t kMostSets = 24;
constexpr std::size_t kLaunches = 24;

std::size_t aligned(std::size_t bytes) { return (bytes + 1023) / 1024 * 1024; }

std::size_t sets_for(std::size_t rotated, std::size_t bytes) {
  return std::clamp<std::size_t>(rotated / std::max<std::size_t>(bytes, 1), 1, kMostSets);
}

// Numbers that keep the answer near one, whatever the length of the sums: weights are the constants
// of two dimensions and more, and a convolution's say how many numbers it adds.
float spread_of(const Graph& graph, const Node& node, std::size_t i) {
  const Value& value = graph.value(node.inputs[i]);
  if (!graph.is_constant(node.inputs[i]) || value.shape.rank() < 2) return 1.0f;
  const std::size_t outputs = value.shape.rank() == 4 ? 0 : value.shape.rank() - 1;
  const auto sum_length = static_cast<float>(value.elements() / value.shape[outputs]);
  return std::sqrt(3.0f / std::max(sum_length, 1.0f));
}

}  // namespace

Result<CandidateTimer> CandidateTimer::create(const Graph& graph, const Node& node,
                                              std::size_t parts, Operands operands,
                                              Libraries& libraries) {
  CandidateTimer timer(graph, node, parts, libraries);
  PROA_ASSIGN(timer.stream_, make_stream());
  PROA_ASSIGN(timer.begin_, make_event(true));
  PROA_ASSIGN(timer.end_, make_event(true));
  PROA_TRY(timer.allocate(operands));
  PROA_TRY(timer.fill());
  return timer;
}

Status CandidateTimer::allocate(Operands operands) {
  std::size_t activations = 0, weights = 0;
  for (ValueId id : node_->outputs) activations += graph_->value(id).bytes();
  for (ValueId id : node_->inputs) {
    if (id == kNoValue) continue;
    (graph_->is_constant(id) ? weights : activations) += graph_->value(id).bytes();
  }
  if (operands == Operands::kOneSet) {
    input_sets_ = weight_sets_ = 1;
  } else if (activations <= kSmallActivations) {
    weight_sets_ = sets_for(kRotatedWeights, weights);
  } else {
    input_sets_ = weight_sets_ = sets_for(kRotatedAll, activations + weights);
  }
  const auto make = [&](const Value& value, std::size_t count) -> Result<Operand> {
    Operand operand;
    operand.stride = aligned(value.bytes());
    operand.sets = count;
    PROA_ASSIGN(operand.memory, DeviceMemory::allocate(operand.stride * count, "tuning"));
    return operand;
  };
  for (ValueId id : node_->inputs) {
    inputs_.emplace_back();
    if (id == kNoValue) continue;
    PROA_ASSIGN(inputs_.back(),
                make(graph_->value(id), graph_->is_constant(id) ? weight_sets_ : input_sets_));
    const Value& value = graph_->value(id);
    if (!graph_->is_constant(id) || value.type != DataType::kFp32) continue;
    PROA_ASSIGN(inputs_.back().as_half,
                DeviceMemory::allocate(static_cast<std::size_t>(value.elements()) * 2, "tuning"));
  }
  for (ValueId id : node_->outputs) {
    PROA_ASSIGN(outputs_.emplace_back(), make(graph_->value(id), input_sets_));
    PROA_ASSIGN(wanted_.emplace_back(), DeviceMemory::allocate(outputs_.back().stride, "tuning"));
  }
  PROA_ASSIGN(sums_, DeviceMemory::allocate(3 * sizeof(float), "tuning"));
  return {};
}

Status CandidateTimer::fill() {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Operand& operand = inputs_[i];
    if (operand.memory.data() == nullptr) continue;
    const Value& value = graph_->value(node_->inputs[i]);
    const float spread = spread_of(*graph_, *node_, i);
    const auto all =
        static_cast<std::int64_t>(operand.stride * operand.sets / element_size(value.type));
    PROA_CUDA(launch_random(operand.memory.data(), number_of(value.type), all, -spread, spread,
                            i + 1, stream_.get()));
    if (operand.as_half.data() == nullptr) continue;
    // The first set's numbers, rounded: small vectors, which stay in the cache anyway.
    PROA_CUDA(launch_pointwise({{operand.memory.data(), Number::kFloat}, Spread::kFull}, {}, false,
                               BinaryKind::kAdd, {}, operand.as_half.data(), Number::kHalf,
                               value.elements(), 1, stream_.get()));
  }
  PROA_CUDA(cudaStreamSynchronize(stream_.get()));
  return {};
}

Result<Arguments> CandidateTimer::arguments(const StepKernel& kernel, std::size_t set) {
  Arguments made;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Operand& operand = inputs_[i];
    if (operand.memory.data() == nullptr) {
      made.inputs.push_back(nullptr);
      continue;
    }
    const DataType natural = graph_->value(node_->inputs[i]).type;
    const bool constant = graph_->is_constant(node_->inputs[i]);
    const DataType wanted = constant ? kernel.constant_type(i, natural) : natural;
    if (wanted != natural && (wanted != DataType::kFp16 || operand.as_half.data() == nullptr)) {
      return error::internal("a kernel wants an input as {}", data_type_name(wanted));
    }
    made.inputs.push_back(wanted == natural ? operand.memory.at(set % operand.sets * operand.stride)
                                            : operand.as_half.data());
  }
  const auto output = [&](std::size_t i) {
    return outputs_[i].memory.at(set % outputs_[i].sets * outputs_[i].stride);
  };
  made.output = output(0);
  if (outputs_.size() > 1) made.second_output = output(1);
  made.workspace = workspace_.data();
  return made;
}

Result<float> CandidateTimer::time(StepKernel& kernel, int repeats, float limit) {
  if (kernel.workspace_bytes() > workspace_.size()) {
    workspace_ = {};
    PROA_ASSIGN(workspace_, DeviceMemory::allocate(kernel.workspace_bytes(), "tuning"));
  }
  // Once outside a graph: modules load, attributes are set.
  PROA_ASSIGN(const Arguments first, arguments(kernel, 0));
  PROA_TRY(kernel.launch(first, *libraries_, stream_.get()));
  PROA_CUDA(cudaStreamSynchronize(stream_.get()));
  auto graph = CapturedGraph::capture(stream_.get(), [&](cudaStream_t stream) -> Status {
    for (std::size_t set = 0; set < kLaunches; ++set) {
      PROA_ASSIGN(const Arguments each, arguments(kernel, set));
      PROA_TRY(kernel.launch(each, *libraries_, stream));
    }
    return {};
  });
  if (!graph) return std::move(graph).error();
  std::vector<float> times;
  PROA_TRY(graph->launch(stream_.get()));
  for (int i = 0; i < repeats; ++i) {
    PROA_CUDA(cudaEventRecord(begin_.get(), stream_.get()));
    PROA_TRY(graph->launch(stream_.get()));
    PROA_CUDA(cudaEventRecord(end_.get(), stream_.get()));
    PROA_CUDA(cudaEventSynchronize(end_.get()));
    float milliseconds = 0;
    PROA_CUDA(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
    times.push_back(milliseconds * 1e3f / kLaunches);
    if (times.front() > limit) break;
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

Status CandidateTimer::run_plain() {
  std::size_t next = 0;  // of the operands
  const void* handed_on = nullptr;
  ValueId between = kNoValue;
  if (std::exchange(has_wanted_, true)) return {};
  const std::vector<const Node*> parts =
      parts_ == 1 ? std::vector{node_} : parts_of(*graph_, *node_, parts_);
  for (const Node* part : parts) {
    PROA_ASSIGN(const std::unique_ptr<StepKernel> plain,
                kReferenceMaker.build(*graph_, *part, "", *libraries_));
    Arguments made;
    for (std::size_t i = 0; i < input_places(*part); ++i) {
      if (between != kNoValue && part->input(i) == between) {
        made.inputs.push_back(handed_on);
      } else if (next < inputs_.size()) {
        made.inputs.push_back(inputs_[next++].memory.data());
      }
    }
    const auto kept = std::ranges::find(node_->outputs, part->output());
    if (kept != node_->outputs.end()) {
      made.output = wanted_[static_cast<std::size_t>(kept - node_->outputs.begin())].data();
    } else {
      PROA_ASSIGN(between_.emplace_back(),
                  DeviceMemory::allocate(graph_->value(part->output()).bytes(), "tuning"));
      made.output = between_.back().data();
    }
    PROA_TRY(plain->launch(made, *libraries_, stream_.get()));
    handed_on = made.output;
    between = part->output();
  }
  return {};
}

Result<float> CandidateTimer::distance_from_plain(StepKernel& kernel) {
  PROA_ASSIGN(const Arguments ours, arguments(kernel, 0));
  for (const Operand& output : outputs_) {
    PROA_CUDA(cudaMemsetAsync(output.memory.data(), 0xff, output.stride, stream_.get()));
  }
  PROA_TRY(kernel.launch(ours, *libraries_, stream_.get()));
  PROA_TRY(run_plain());
  float largest = 0;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    PROA_ASSIGN(const float each,
                distance(node_->outputs[i], outputs_[i].memory.data(), wanted_[i].data()));
    largest = std::max(largest, each);
  }
  return largest;
}

Result<float> CandidateTimer::distance(ValueId id, const void* got, const void* wanted) {
  const Value& value = graph_->value(id);
  const Number type = number_of(value.type);
  float sums[3] = {};
  PROA_CUDA(cudaMemsetAsync(sums_.data(), 0, sizeof sums, stream_.get()));
  PROA_CUDA(launch_compare({got, type}, {wanted, type}, value.elements(),
                           static_cast<float*>(sums_.data()), stream_.get()));
  PROA_CUDA(
      cudaMemcpyAsync(sums, sums_.data(), sizeof sums, cudaMemcpyDeviceToHost, stream_.get()));
  PROA_CUDA(cudaStreamSynchronize(stream_.get()));
  if (sums[2] > 0) return std::numeric_limits<float>::infinity();
  return std::sqrt(sums[0] / std::max(sums[1], 1e-30f));
}

}  // namespace proa::engine::cuda
