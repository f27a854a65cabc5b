#include "engine/passes/pass.h"

#include <fstream>
#include <sstream>

#include "base/testing/source_path.h"
#include "engine/graph/text.h"
#include "engine/host/reference.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::engine {
namespace {

Graph graph_of(std::string_view text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << graph.error().message;
  return graph ? std::move(*graph) : Graph{};
}

// The nodes only, without constants: what a pass is about.
std::string nodes_text(const Graph& graph) {
  std::istringstream lines(print_graph(graph, ConstantText::kBrief));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("graph") && !line.starts_with("const")) text += line + "\n";
  }
  return text;
}

std::vector<HostTensor> random_inputs(const Graph& graph) {
  std::vector<HostTensor> inputs;
  for (ValueId id : graph.inputs) {
    const Value& value = graph.value(id);
    const bool picture = value.type == DataType::kUint8;
    inputs.push_back(
        {value.shape, random_numbers(inputs.size() + 1, static_cast<std::size_t>(value.elements()),
                                     picture ? 0.0f : -1.0f, picture ? 255.0f : 1.0f)});
  }
  return inputs;
}

// The largest difference of any output, relative to the largest number there.
double difference(const Graph& before, const Graph& after) {
  const auto inputs = random_inputs(before);
  const auto wanted = run_graph(before, inputs);
  const auto got = run_graph(after, inputs);
  EXPECT_TRUE(wanted && got);
  if (!wanted || !got || wanted->size() != got->size()) return 1e9;
  double worst = 0, scale = 1e-6;
  for (std::size_t o = 0; o < wanted->size(); ++o) {
    EXPECT_EQ((*wanted)[o].shape, (*got)[o].shape);
    for (std::size_t i = 0; i < (*wanted)[o].data.size(); ++i) {
      scale = std::max<double>(scale, std::abs((*wanted)[o].data[i]));
      const double off = std::abs((*wanted)[o].data[i] - (*got)[o].data[i]);
      if (std::isnan(off)) return 1e9;
      worst = std::max(worst, off);
    }
  }
  return worst / scale;
}

struct Case {
  std::string name, passes, before, after;
};

// passes/cases/*.txt: "case NAME: pass pass...", the graph, a line "-->", the nodes wanted.
std::vector<Case> read_cases(const std::string& file) {
  std::ifstream in(source_path("src/engine/passes/cases/").string() + file);
  std::vector<Case> cases;
  std::string* into = nullptr;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("case ")) {
      const std::size_t colon = line.find(':');
      cases.push_back({line.substr(5, colon - 5), line.substr(colon + 1), "", ""});
      into = &cases.back().before;
    } else if (line == "-->") {
      into = &cases.back().after;
    } else if (into != nullptr && !line.empty() && !line.starts_with("#")) {
      *into += line + "\n";
    }
  }
  return cases;
}

class PassCasesTest : public testing::TestWithParam<const char*> {};

TEST_P(PassCasesTest, RewritesAndKeepsTheAnswer) {
  const std::vector<Case> cases = read_cases(GetParam());
  ASSERT_FALSE(cases.empty()) << GetParam();
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    const Graph before = graph_of(each.before);
    Graph after = before;
    PassOptions options;
    options.keep_fp32.insert("stays_fp32");
    std::istringstream names(each.passes);
    for (std::string name; names >> name;) {
      const Pass* pass = find_pass(name);
      ASSERT_NE(pass, nullptr) << name;
      auto records = run_passes(after, options, {pass, 1});
      ASSERT_TRUE(records) << records.error().message;
    }
    EXPECT_EQ(nodes_text(after), each.after);
    const bool rounds =
        each.passes.contains("set_precision") || each.passes.contains("widen_halves");
    EXPECT_LT(difference(before, after), rounds ? 3e-3 : 2e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, PassCasesTest,
                         testing::Values("clip.txt", "fold.txt", "fuse.txt", "layout.txt",
                                         "pack_input.txt", "padding.txt", "precision.txt",
                                         "simplify.txt", "widen.txt"),
                         [](const auto& info) {
                           const std::string name = info.param;
                           return name.substr(0, name.find('.'));
                         });

TEST(PassTest, ListNamesEveryPassAndWhatItDoes) {
  for (const Pass& pass : standard_passes()) {
    EXPECT_FALSE(pass.name.empty());
    EXPECT_FALSE(pass.what.empty());
    EXPECT_NE(find_pass(pass.name), nullptr);
  }
  EXPECT_EQ(find_pass("no_such_pass"), nullptr);
}

TEST(PassTest, ABrokenPassIsNamed) {
  const Pass breaks{"breaks", "makes a node read what comes later",
                    [](Graph& graph, const PassOptions&) -> Result<std::size_t> {
                      std::swap(graph.nodes[0], graph.nodes[1]);
                      return std::size_t{1};
                    }};
  Graph graph =
      graph_of("input x : FP32[2]\na = unary(x) act=relu\nb = unary(a) act=exp\noutput b\n");
  auto records = run_passes(graph, {}, {&breaks, 1});
  ASSERT_FALSE(records);
  EXPECT_THAT(records.error().message, testing::HasSubstr("breaks: graph 'graph', node 'b'"));
}

}  // namespace
}  // namespace proa::engine
