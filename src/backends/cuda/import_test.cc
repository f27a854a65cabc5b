#include "backends/cuda/import.h"

#include <cmath>
#include <fstream>
#include <numeric>
#include <random>
#include <set>

#include "backends/cuda/testing/export.h"
#include "base/testing/source_path.h"
#include "engine/graph/batch.h"
#include "engine/graph/text.h"
#include "engine/host/executor.h"
#include "engine/passes/pass.h"
#include "engine/plan/plan.h"
#include "engine/testing/cases.h"
#include "engine/testing/compare.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "openvino/op/ops.hpp"
#include "openvino/openvino.hpp"

namespace proa::backends::cuda {
namespace {

using engine::Graph;
using engine::HostTensor;
using testing::HasSubstr;

TEST(OperatorCasesTest, HostReferenceEqualsOpenVino) {
  auto cases = engine::read_operator_cases(source_path("src/engine/testing/cases"));
  ASSERT_TRUE(cases) << cases.error().message;
  EXPECT_GT(cases->size(), 40u);
  for (const engine::OperatorCase& each : *cases) {
    SCOPED_TRACE(each.name);
    const std::vector<HostTensor> inputs = engine::random_inputs(each.graph);
    const auto wanted = run_openvino(export_graph(each.graph), inputs);
    const auto got = engine::run_graph(each.graph, inputs);
    ASSERT_TRUE(got) << got.error().message;
    ASSERT_EQ(got->size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ((*got)[i].shape, wanted[i].shape);
      // Half values are rounded after every operator; OpenVINO rounds nothing.
      const bool half = engine::print_graph(each.graph).find("FP16") != std::string::npos;
      EXPECT_LT(engine::relative_l2((*got)[i].data, wanted[i].data), half ? 1e-3 : 1e-6) << i;
    }
  }
}

// Runs a plan of the graph on the host and returns its first output.
std::vector<float> run_plan(const Graph& graph, const HostTensor& input) {
  auto plan = engine::lower(graph, {});
  EXPECT_TRUE(plan) << plan.error().message;
  const Buffer in = engine::pack_floats(graph.value(graph.inputs[0]).type, input.data);
  const engine::Value& out = graph.value(graph.outputs[0]);
  std::vector<std::byte> bytes(out.bytes());
  const std::span<const std::byte> input_bytes = in.bytes();
  const std::span<std::byte> output_bytes = bytes;
  const Status status = engine::HostExecutor(*plan).run({&input_bytes, 1}, {&output_bytes, 1});
  EXPECT_TRUE(status);
  return engine::unpack_floats(out.type, bytes, static_cast<std::size_t>(out.elements()));
}

struct NetworkCase {
  const char* file;
  std::int64_t batch;
};

class NetworkTest : public testing::TestWithParam<NetworkCase> {};

// The whole way of a file: import, passes, batch, plan, memory, every step; against OpenVINO.
TEST_P(NetworkTest, PlanOnTheHostEqualsOpenVino) {
  auto model = read_model(std::string(PROA_MODELS_DIR "/") + GetParam().file);
  ASSERT_TRUE(model) << model.error().message;
  auto imported = import_model(*model, 1);
  ASSERT_TRUE(imported) << imported.error().message;
  const std::int64_t batch = GetParam().batch;
  HostTensor input{imported->value(imported->inputs[0]).shape, {}};
  input.shape[0] = batch;
  input.data =
      engine::random_numbers(4, static_cast<std::size_t>(*input.shape.element_count()), -1, 1);
  const std::vector<float> wanted = run_openvino(*model, {input}).front().data;

  for (const auto& [precision, tolerance] :
       {std::pair(engine::Precision::kFp32, 1e-5), std::pair(engine::Precision::kFp16, 5e-3)}) {
    Graph graph = *imported;
    engine::PassOptions options;
    options.precision = precision;
    auto records = engine::run_passes(graph, options);
    ASSERT_TRUE(records) << records.error().message;
    auto batched = engine::with_batch(graph, batch);
    ASSERT_TRUE(batched) << batched.error().message;
    EXPECT_LT(engine::relative_l2(run_plan(*batched, input), wanted), tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, NetworkTest,
    testing::Values(NetworkCase{"resnet50_narrow.onnx", 3}, NetworkCase{"resnet_odd.onnx", 3},
                    NetworkCase{"resnet_saved_model", 3}, NetworkCase{"mobilenet_narrow.onnx", 3},
                    NetworkCase{"mobilenet_5x5.onnx", 3}, NetworkCase{"light_shufflenet.onnx", 1},
                    NetworkCase{"light_squeezenet.onnx", 1}),
    [](const auto& info) {
      const std::string name = info.param.file;
      return name.substr(0, name.find('.'));
    });

TEST(ImportTest, Resnet50BecomesOneStepForEachConvolution) {
  auto model = read_model(PROA_MODELS_DIR "/resnet50_narrow.onnx");
  ASSERT_TRUE(model);
  auto graph = import_model(*model, 8);
  ASSERT_TRUE(graph);
  ASSERT_TRUE(engine::run_passes(*graph, {}));
  std::map<std::string_view, int> counts;
  for (const engine::Node& node : graph->nodes) ++counts[engine::op_name(node.op)];
  // 53 convolutions with everything fused, pools, classifier, one convert of the answer.
  const std::map<std::string_view, int> wanted = {{"conv", 53},  {"pack", 1},    {"pool", 1},
                                                  {"reduce", 1}, {"reshape", 1}, {"matmul", 1},
                                                  {"convert", 1}};
  EXPECT_EQ(counts, wanted) << engine::print_graph(*graph, engine::ConstantText::kBrief);
}

TEST(ImportTest, AFileInHalvesIsFoldedAndFusedAsOthersAre) {
  auto model = read_model(PROA_MODELS_DIR "/resnet_half.onnx");
  ASSERT_TRUE(model);
  auto graph = import_model(*model, 2);
  ASSERT_TRUE(graph) << graph.error().message;
  HostTensor input{{2, 3, 64, 64}, engine::random_numbers(4, 2 * 3 * 64 * 64, -1, 1)};
  const auto wanted = engine::run_graph(*graph, {&input, 1});
  ASSERT_TRUE(wanted);
  ASSERT_TRUE(engine::run_passes(*graph, {}));
  std::map<std::string_view, int> counts;
  for (const engine::Node& node : graph->nodes) ++counts[engine::op_name(node.op)];
  EXPECT_EQ(counts["conv"], 12);
  EXPECT_EQ(counts["binary"], 0) << engine::print_graph(*graph, engine::ConstantText::kBrief);
  EXPECT_EQ(graph->value(graph->outputs[0]).type, DataType::kFp16);
  EXPECT_LT(engine::relative_l2(run_plan(*graph, input), (*wanted)[0].data), 5e-3);
}

class LightNetworkTest : public testing::TestWithParam<const char*> {};

TEST_P(LightNetworkTest, EveryOperatorHasAPlan) {
  auto model = read_model(fmt::format("{}/light_{}.onnx", PROA_LIGHT_DIR, GetParam()));
  ASSERT_TRUE(model) << model.error().message;
  auto graph = import_model(*model, 1);
  ASSERT_TRUE(graph) << graph.error().message;
  auto records = engine::run_passes(*graph, {});
  ASSERT_TRUE(records) << records.error().message;
  auto plan = engine::lower(*graph, {});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_GT(plan->steps.size(), 15u);
}

INSTANTIATE_TEST_SUITE_P(Files, LightNetworkTest,
                         testing::Values("bvlc_alexnet", "densenet121", "inception_v1",
                                         "inception_v2", "resnet50", "vgg19", "zfnet512"));

// Fusions that have no step in common, as a tuner might take them.
std::vector<std::size_t> some_fusions(const engine::Plan& plan, std::mt19937& random) {
  std::vector<std::size_t> order(plan.fusions.size()), taken;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, random);
  std::set<std::size_t> steps;
  for (const std::size_t index : order) {
    const engine::Fusion& fusion = plan.fusions[index];
    bool free = random() % 4 != 0;
    for (std::size_t i = 0; i < fusion.count; ++i) free &= !steps.contains(fusion.first + i);
    if (!free) continue;
    for (std::size_t i = 0; i < fusion.count; ++i) steps.insert(fusion.first + i);
    taken.push_back(index);
  }
  return taken;
}

// Which value lies where in the arena while a plan runs.
class ArenaContents {
 public:
  explicit ArenaContents(const engine::Plan& plan) : plan_(plan) {}

  void run(const engine::Node& node) {
    for (const engine::ValueId id : node.inputs) {
      if (id == engine::kNoValue || !in_arena(id)) continue;
      EXPECT_TRUE(there_.contains(owner(id))) << "gone before it is read: " << name(id);
      for (const engine::ValueId output : node.outputs) {
        EXPECT_FALSE(in_arena(output) && overlap(owner(id), owner(output))) << name(id);
      }
    }
    for (const engine::ValueId id : node.outputs) {
      if (!in_arena(id)) continue;
      std::erase_if(there_, [&](engine::ValueId other) { return overlap(owner(id), other); });
      there_.insert(owner(id));
    }
  }

 private:
  engine::ValueId owner(engine::ValueId id) const {
    return plan_.owners[static_cast<std::size_t>(id)];
  }
  const std::string& name(engine::ValueId id) const { return plan_.graph.value(id).name; }
  bool in_arena(engine::ValueId id) const {
    return plan_.storage_of(id).place == engine::Storage::Place::kArena;
  }
  bool overlap(engine::ValueId a, engine::ValueId b) const {
    const std::size_t from = plan_.storage_of(a).offset, to = plan_.storage_of(b).offset;
    return from < to + plan_.graph.value(b).bytes() && to < from + plan_.graph.value(a).bytes();
  }

  const engine::Plan& plan_;
  std::set<engine::ValueId> there_;
};

TEST(ImportTest, MemoryKeepsWhatIsReadWhateverIsFused) {
  auto model = read_model(PROA_LIGHT_DIR "/light_resnet50.onnx");
  ASSERT_TRUE(model) << model.error().message;
  auto graph = import_model(*model, 1);
  ASSERT_TRUE(graph);
  ASSERT_TRUE(engine::run_passes(*graph, {}));
  auto plan = engine::lower(*graph, {});
  ASSERT_TRUE(plan);
  ASSERT_GT(plan->fusions.size(), 10u);
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::vector<std::size_t> taken = some_fusions(*plan, random);
    engine::place_memory(*plan, taken);
    ArenaContents arena(*plan);
    for (std::size_t i = 0; i < plan->steps.size();) {
      const auto fusion = std::ranges::find_if(
          taken, [&](std::size_t index) { return plan->fusions[index].first == i; });
      arena.run(fusion == taken.end() ? plan->steps[i].node : plan->fusions[*fusion].step.node);
      i += fusion == taken.end() ? 1 : plan->fusions[*fusion].count;
    }
    if (HasFailure()) break;
  }
}

TEST(ImportTest, PixelsAreNormalisedWhereTheStemReadsThem) {
  auto model = read_model(PROA_MODELS_DIR "/resnet_pixels.onnx");
  ASSERT_TRUE(model);
  auto graph = import_model(*model, 2);
  ASSERT_TRUE(graph) << graph.error().message;
  HostTensor input{{2, 64, 64, 3}, engine::random_numbers(4, 2 * 3 * 64 * 64, 0, 255)};
  for (float& number : input.data) number = std::floor(number);
  const std::vector<float> wanted = run_openvino(*model, {input}).front().data;
  ASSERT_TRUE(engine::run_passes(*graph, {}));
  EXPECT_TRUE(std::holds_alternative<engine::Pack>(graph->nodes.front().op));
  EXPECT_LT(engine::relative_l2(run_plan(*graph, input), wanted), 5e-3);
}

TEST(ImportTest, DepthwiseNetworksLeaveUpperBoundsToOwnKernels) {
  auto model = read_model(PROA_MODELS_DIR "/mobilenet_narrow.onnx");
  ASSERT_TRUE(model);
  auto graph = import_model(*model, 8);
  ASSERT_TRUE(graph);
  ASSERT_TRUE(engine::run_passes(*graph, {}));
  auto plan = engine::lower(*graph, {});
  ASSERT_TRUE(plan) << plan.error().message;
  int depthwise = 0, bounded = 0;
  for (const engine::Step& step : plan->steps) {
    const auto* conv = std::get_if<engine::Conv>(&step.node.op);
    if (conv == nullptr) continue;
    if (step.candidates.front() == engine::Implementation::kDepthwise) ++depthwise;
    EXPECT_TRUE(conv->groups > 1 || conv->act.function != engine::Function::kClamp);
    bounded += conv->input_max == 6;
  }
  EXPECT_EQ(depthwise, 5);
  EXPECT_EQ(bounded, 5);
}

TEST(ImportTest, ListsEveryOperatorThatTheEngineLacks) {
  auto x = std::make_shared<ov::op::v0::Parameter>(ov::element::f32, ov::PartialShape{-1, 4});
  auto a = std::make_shared<ov::op::v0::Relu>(x);
  auto b = std::make_shared<ov::op::v0::CumSum>(a);
  b->set_friendly_name("running");
  auto c = std::make_shared<ov::op::v0::Erf>(a);
  auto model = std::make_shared<ov::Model>(ov::OutputVector{b, c}, ov::ParameterVector{x});
  std::vector<Unsupported> found;
  auto graph = import_model(model, 2, &found);
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, ErrorCode::kUnimplemented);
  EXPECT_THAT(graph.error().message, HasSubstr("CumSum (no counterpart in the engine, node "
                                               "'running')"));
  EXPECT_EQ(found.size(), 2u);
}

TEST(ImportTest, OpenPictureSizesAreRefusedByName) {
  auto x =
      std::make_shared<ov::op::v0::Parameter>(ov::element::f32, ov::PartialShape{-1, 3, -1, 8});
  x->get_output_tensor(0).set_names({"picture"});
  auto model = std::make_shared<ov::Model>(ov::OutputVector{std::make_shared<ov::op::v0::Relu>(x)},
                                           ov::ParameterVector{x});
  auto graph = import_model(model, 1);
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().message, HasSubstr("input 'picture' is [?,3,?,8]"));
}

TEST(ImportTest, ABadFileIsAnError) {
  const std::string path = testing::TempDir() + "/bad.onnx";
  std::ofstream(path) << "not a model";
  auto model = read_model(path);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(model.error().message, HasSubstr("bad.onnx"));
}

}  // namespace
}  // namespace proa::backends::cuda
