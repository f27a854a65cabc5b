#include "engine/graph/batch.h"

#include "engine/graph/text.h"
#include "engine/host/reference.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::engine {
namespace {

constexpr std::string_view kNetwork = R"(graph net
input x : FP32[1,3,8,8]
const w : FP32[4,3,3,3] = random(1, -1, 1)
const f : FP32[4,5] = random(2, -1, 1)
const s : FP32[1,4,1,1] = random(3, -1, 1)
a = conv(x, w) act=relu
b = binary(a, s) kind=multiply
c = reduce(b) axes=[2,3] keep_dims=true
d = reshape(c) dims=[1,4]
e = matmul(d, f)
y = softmax(e) axis=1
output y
)";

TEST(BatchTest, RowsOfALargerBatchAreTheRowsAlone) {
  const Graph one = *parse_graph(kNetwork);
  EXPECT_EQ(batch_obstacle(one), std::nullopt);
  auto three = with_batch(one, 3);
  ASSERT_TRUE(three) << three.error().message;
  HostTensor rows{{3, 3, 8, 8}, random_numbers(5, 3 * 3 * 64, -1, 1)};
  const HostTensor together = run_graph(*three, {&rows, 1})->front();
  for (std::size_t i = 0; i < 3; ++i) {
    HostTensor row{{1, 3, 8, 8},
                   {rows.data.begin() + static_cast<std::ptrdiff_t>(i) * 192,
                    rows.data.begin() + static_cast<std::ptrdiff_t>(i + 1) * 192}};
    const HostTensor alone = run_graph(one, {&row, 1})->front();
    const std::vector<float> part(together.data.begin() + static_cast<std::ptrdiff_t>(i) * 5,
                                  together.data.begin() + static_cast<std::ptrdiff_t>(i + 1) * 5);
    EXPECT_EQ(part, alone.data);
  }
}

TEST(BatchTest, NamesWhatMixesRows) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"y = reduce(x) axes=[0]", "'y' reduces over the batch"},
      {"y = softmax(x) axis=0", "'y' normalises over the batch"},
      {"y = transpose(x) order=[1,0]", "'y' moves the batch"},
      {"y = reshape(x) dims=[12]", "'y' reshapes the batch away"},
      {"y = concat(x, x) axis=0", "'y' joins along the batch"},
      {"y = matmul(x, x) transpose_b=true", "'y' multiplies across the batch"},
      {"y = matmul(x, x) transpose_a=true", "'y' multiplies across the batch"},
      {"const c : FP32[3,4] = fill(1)\ny = binary(x, c)", "'y' combines the batch"},
      {"const c : FP32[3,4] = fill(1)\ny = unary(c)", "output 'y' has no batch"},
  };
  for (const auto& [line, message] : cases) {
    const auto graph = parse_graph("input x : FP32[3,4]\n" + std::string(line) + "\noutput y\n");
    ASSERT_TRUE(graph) << graph.error().message;
    const auto obstacle = batch_obstacle(*graph);
    ASSERT_TRUE(obstacle) << line;
    EXPECT_THAT(*obstacle, testing::HasSubstr(message));
    EXPECT_FALSE(with_batch(*graph, 2));
  }
}

}  // namespace
}  // namespace proa::engine
