// Variants of our own kernels over the operator cases, by the emulator, against the host's
// reference.
#include "base/check.h"
#include "base/testing/source_path.h"
#include "engine/cuda/step_kernel.h"
#include "engine/emulator/emulator.h"
#include "engine/plan/plan.h"
#include "engine/testing/cases.h"
#include "engine/testing/compare.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::engine {
namespace {

using cuda::KernelMaker;

const KernelMaker* own_maker(Implementation implementation) {
  static const KernelMaker* const makers[] = {
      &cuda::kBlockEndMaker,         &cuda::kDepthwiseMaker,   &cuda::kExpandMaker,
      &cuda::kFewPixelsMaker,        &cuda::kFewRowsMaker,     &cuda::kPackMaker,
      &cuda::kPictureDepthwiseMaker, &cuda::kPointwiseMaker,   &cuda::kPoolVectorMaker,
      &cuda::kReferenceMaker,        &cuda::kSpatialMeanMaker, &cuda::kStemMaker};
  for (const KernelMaker* maker : makers) {
    if (maker->implementation == implementation) return maker;
  }
  return nullptr;  // a library's
}

using Bytes = std::unique_ptr<emulator::GuardedMemory>;
Bytes copy_of(std::span<const std::byte> bytes) {
  auto copy = std::make_unique<emulator::GuardedMemory>(bytes.size());
  std::ranges::copy(bytes, copy->data());
  return copy;
}
Bytes poisoned(std::size_t size) {
  auto bytes = std::make_unique<emulator::GuardedMemory>(size);
  std::fill_n(bytes->data(), size, std::byte{0xff});
  return bytes;
}

// A plan's values as the host computes them.
class Values {
 public:
  explicit Values(const Graph& graph) : numbers_(graph.values.size()) {
    Graph all = graph;
    all.outputs.clear();
    for (const Node& node : graph.nodes) all.outputs.push_back(node.output());
    const std::vector<HostTensor> inputs = random_inputs(graph);
    auto outputs = run_graph(all, inputs);
    EXPECT_TRUE(outputs) << outputs.error().message;
    for (std::size_t i = 0; i < inputs.size(); ++i) at(graph.inputs[i]) = inputs[i].data;
    for (std::size_t i = 0; i < all.outputs.size(); ++i) {
      at(all.outputs[i]) = std::move((*outputs)[i].data);
    }
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
      if (graph.values[i].constant) numbers_[i] = constant_floats(graph.values[i]);
    }
  }
  const std::vector<float>& numbers(ValueId id) const {
    return numbers_[static_cast<std::size_t>(id)];
  }
  Bytes bytes(ValueId id, DataType type) const {
    return copy_of(pack_floats(type, numbers(id)).bytes());
  }

 private:
  std::vector<float>& at(ValueId id) { return numbers_[static_cast<std::size_t>(id)]; }
  std::vector<std::vector<float>> numbers_;
};

// What a kernel may not touch while the one in front of it still runs.
std::vector<const emulator::GuardedMemory*> made_in_front(const Graph& graph, const Node& node,
                                                          const std::vector<Bytes>& inputs,
                                                          const std::vector<Bytes>& outputs) {
  std::vector<const emulator::GuardedMemory*> made;
  std::size_t at = 0;
  for (ValueId id : node.inputs) {
    if (id == kNoValue) continue;
    if (!graph.is_constant(id)) made.push_back(inputs[at].get());
    ++at;
  }
  for (const Bytes& output : outputs) made.push_back(output.get());
  return made;
}

enum class Inputs { kThere, kAfterTheWait };

void check_kernel(const Graph& graph, const Values& values, const Node& node,
                  cuda::StepKernel& kernel, cuda::Libraries& libraries, Inputs when) {
  std::vector<Bytes> inputs;
  cuda::Arguments arguments;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if (id == kNoValue) {
      arguments.inputs.push_back(nullptr);
      continue;
    }
    const DataType own = graph.value(id).type;
    const DataType type = graph.is_constant(id) ? kernel.constant_type(i, own) : own;
    inputs.push_back(values.bytes(id, type));
    arguments.inputs.push_back(inputs.back()->data());
  }
  std::vector<Bytes> outputs;
  for (ValueId id : node.outputs) outputs.push_back(poisoned(graph.value(id).bytes()));
  arguments.output = outputs[0]->data();
  if (outputs.size() > 1) arguments.second_output = outputs[1]->data();
  const bool rounds = std::ranges::any_of(node.inputs, [&](ValueId id) {
    return id != kNoValue && graph.value(id).type == DataType::kFp16;
  });
  if (when == Inputs::kAfterTheWait) {
    emulator::forbid_before_wait(made_in_front(graph, node, inputs, outputs));
  }
  const Status status = kernel.launch(arguments, libraries, nullptr);
  emulator::forbid_before_wait({});
  ASSERT_TRUE(status) << status.error().message;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Value& value = graph.value(node.outputs[i]);
    const std::vector<float> got =
        unpack_floats(value.type, {outputs[i]->data(), outputs[i]->size()},
                      static_cast<std::size_t>(value.elements()));
    const double limit = rounds ? 2e-3 : 2e-6;
    EXPECT_LT(relative_l2(got, values.numbers(node.outputs[i])), limit) << "output " << i;
  }
}

constexpr std::int64_t kLargeWork = 60'000, kLargerWork = 190'000;  // elements of the result

// All variants of small work; the first and the last of what takes the emulator seconds, the first
// of what takes it longer.
std::vector<std::string> chosen(std::vector<std::string> variants, std::int64_t elements) {
  if (elements > kLargeWork && variants.size() > 2) {
    variants.erase(variants.begin() + 1, variants.end() - 1);
  }
  if (elements > kLargerWork && variants.size() > 1) variants.pop_back();
  return variants;
}

class KernelTest : public testing::TestWithParam<OperatorCase> {};

TEST_P(KernelTest, VariantsEqualTheReference) {
  auto plan = lower(GetParam().graph, {});
  if (GetParam().name == "shape/batch_norm") {  // must be folded first
    EXPECT_FALSE(plan);
    return;
  }
  ASSERT_TRUE(plan) << plan.error().message;
  auto libraries = cuda::Libraries::create();
  ASSERT_TRUE(libraries);
  const Values values(plan->graph);
  std::vector<const Step*> work;
  for (const Step& step : plan->steps) work.push_back(&step);
  for (const Fusion& fusion : plan->fusions) work.push_back(&fusion.step);
  for (const Step* step : work) {
    for (const Implementation implementation : step->candidates) {
      const KernelMaker* maker = own_maker(implementation);
      if (maker == nullptr) continue;
      const auto variants = maker->variants(plan->graph, step->node, **libraries);
      ASSERT_TRUE(variants) << variants.error().message;
      EXPECT_FALSE(variants->empty()) << name_of(implementation) << " of " << step->signature;
      const std::int64_t elements = plan->graph.value(step->node.output()).elements();
      for (const std::string& variant : chosen(*variants, elements)) {
        SCOPED_TRACE(fmt::format("{} {} of {}", name_of(implementation), variant, step->signature));
        auto kernel = maker->build(plan->graph, step->node, variant, **libraries);
        ASSERT_TRUE(kernel) << kernel.error().message;
        check_kernel(plan->graph, values, step->node, **kernel, **libraries, Inputs::kThere);
        if (variant != variants->front() && elements > kLargeWork) continue;
        check_kernel(plan->graph, values, step->node, **kernel, **libraries, Inputs::kAfterTheWait);
      }
    }
  }
}

std::vector<OperatorCase> all_cases() {
  auto cases = read_operator_cases(source_path("src/engine/testing/cases"));
  PROA_CHECK(cases.has_value() && !cases->empty(), "the operator cases are there");
  return std::move(*cases);
}

INSTANTIATE_TEST_SUITE_P(Files, KernelTest, testing::ValuesIn(all_cases()), [](const auto& info) {
  std::string name = info.param.name;
  std::ranges::replace_if(name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace proa::engine
