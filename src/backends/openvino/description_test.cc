#include "backends/openvino/description.h"

#include "backends/openvino/testing/models.h"
#include "base/testing/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends::openvino {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(DescriptionTest, CountsOperationsWeightsAndProducts) {
  const TempFolder folder;
  testing::write_file(folder.path() / "dense.onnx", testing::onnx_dense_layer());
  const auto description = describe_model(folder.path() / "dense.onnx");
  ASSERT_TRUE(description) << description.error().message;
  EXPECT_EQ(description->format, "ONNX");
  EXPECT_THAT(description->operations,
              ElementsAre(Pair("Add", 1), Pair("MatMul", 1), Pair("Relu", 1)));
  EXPECT_EQ(description->parameters, 4 * 3 + 3);
  EXPECT_EQ(description->weight_bytes, 15 * 4);
  EXPECT_EQ(description->multiply_adds, 4 * 3);
}

TEST(DescriptionTest, LeavesCostOpenWithTheShapes) {
  const TempFolder folder;
  testing::write_file(folder.path() / "a.onnx", "rubbish");
  EXPECT_FALSE(describe_model(folder.path() / "a.onnx"));
  testing::write_ir(testing::string_model(), folder.path() / "s.xml");
  const auto strings = describe_model(folder.path() / "s.xml");
  ASSERT_TRUE(strings) << strings.error().message;
  EXPECT_EQ(strings->signature.inputs[0].to_string(), "string [-1,1]");
}

}  // namespace
}  // namespace proa::backends::openvino
