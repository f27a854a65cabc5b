#include "engine/graph/text.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::engine {
namespace {

using testing::HasSubstr;

constexpr std::string_view kTiny = R"(graph tiny
input x : FP32[1,3,8,8]
const w : FP32[1,3,1,1] = {1, -2, 0.5}
const "odd name:0" : FP32[1] = {0.100000001}
y = conv(x, w, "odd name:0") strides=[2,2] act=clamp(0,6) : FP32[1,1,4,4]
z = binary(y, y) kind=multiply : FP32[1,1,4,4]
output z
output y
)";

TEST(GraphTextTest, PrintsWhatItRead) {
  auto graph = parse_graph(kTiny);
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_TRUE(verify(*graph));
  EXPECT_EQ(print_graph(*graph), kTiny);
}

TEST(GraphTextTest, EveryOperatorAndAttributeComesBack) {
  constexpr std::string_view kAll = R"(graph all
input x : FP16[2,8,8,4]
input r : FP16[2,8,8,4]
input u : UINT8[2,3,8,8]
const w : FP16[4,3,3,1] = fill(0.25)
const v : FP32[3] = {1, 2, 3}
const g : FP32[4] = fill(1)
a = conv(x, w, _, r) layout=nhwc pads_begin=[1,1] pads_end=[1,1] groups=4 act=hard_swish
b = pool(a) kind=average layout=nhwc kernel=[3,3] strides=[2,2] pads_begin=[1,1] count_padding=true
c = batch_norm(b, g, g, g, g) layout=nhwc epsilon=0.001
d = reduce(c) kind=max axes=[1,2] keep_dims=true
e = reshape(d) dims=[2,4]
f = transpose(e) order=[1,0]
h = matmul(e, f) transpose_a=false transpose_b=false act=tanh
i = softmax(h) axis=1
j = convert(i) type=FP32
k = concat(j, j) axis=1
l = unary(k) act=sigmoid
p = pack(u, v, v) channels=8 type=FP32
output l
output p
)";
  auto graph = parse_graph(kAll);
  ASSERT_TRUE(graph) << graph.error().message;
  const std::string printed = print_graph(*graph);
  auto again = parse_graph(printed);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(print_graph(*again), printed);
  ASSERT_EQ(again->nodes.size(), graph->nodes.size());
  for (std::size_t i = 0; i < graph->nodes.size(); ++i) {
    EXPECT_TRUE(again->nodes[i].op == graph->nodes[i].op) << op_name(graph->nodes[i].op);
  }
}

TEST(GraphTextTest, BriefTextHidesLongConstants) {
  auto graph = parse_graph("const w : FP32[100] = fill(1)\ny = unary(w) act=relu\noutput y\n");
  ASSERT_TRUE(graph);
  EXPECT_THAT(print_graph(*graph, ConstantText::kBrief), HasSubstr("hash("));
}

TEST(GraphTextTest, RepeatedNamesArePrintedApart) {
  Graph graph;
  const ValueId x = graph.add_input("same", DataType::kFp32, {2});
  graph.outputs.push_back(*graph.add_node(Unary{}, {x}, "same"));
  auto again = parse_graph(print_graph(graph));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->nodes.size(), 1u);
}

struct BadText {
  std::string_view text;
  std::string_view message;
};

TEST(GraphTextTest, ErrorsNameLineAndExpectation) {
  const BadText cases[] = {
      {"input x : FP31[1]", "line 1, column 15: expected a data type"},
      {"\n\ny = relu(x)", "line 3, column 9: expected an operator instead of 'relu'"},
      {"y = unary(x)", "expected a value instead of unknown 'x'"},
      {"input x : FP32[2]\ninput x : FP32[2]", "line 2: 'x' is defined twice"},
      {"input x : FP32[2]\ny = unary(x) axis=1", "expected an attribute of unary"},
      {"input x : FP32[2]\ny = unary(x) act=softplus", "expected a known word"},
      {"input x : FP32[2]\ny = unary(x) : FP32[3]", "line 2: 'y' is FP32[2]"},
      {"const x : FP32[2] = {1}", "expected 2 numbers"},
      {"input x : FP32[99999999999,99999999999]", "expected a shape"},
      {"input x : FP32[2] junk", "expected the end of the line"},
      {"input x : FP32[1,3,4,4]\ninput w : FP32[2,2,1,1]\ny = conv(x, w)",
       "conv wants input channels = weight channels x groups (1); it got (FP32[1,3,4,4]"},
  };
  for (const BadText& bad : cases) {
    auto graph = parse_graph(bad.text);
    ASSERT_FALSE(graph) << bad.text;
    EXPECT_EQ(graph.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(graph.error().message, HasSubstr(bad.message));
  }
}

TEST(GraphTextTest, SignatureLeavesNamesOut) {
  auto graph = parse_graph(kTiny);
  ASSERT_TRUE(graph);
  EXPECT_EQ(signature(*graph, graph->nodes[0]),
            "conv(FP32[1,3,8,8], const FP32[1,3,1,1], const FP32[1]) strides=[2,2] act=clamp(0,6)");
}

}  // namespace
}  // namespace proa::engine
