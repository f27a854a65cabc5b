#include "backends/openvino/onnx_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace proa::backends::openvino {
namespace {

using ::testing::HasSubstr;

// One length-delimited field of a protobuf message (field numbers below 16 or 25, short contents).
std::string field(int number, const std::string& bytes) {
  std::string out;
  unsigned tag = static_cast<unsigned>(number) << 3 | 2;
  for (; tag >= 128; tag >>= 7) out.push_back(static_cast<char>(tag | 128));
  out.push_back(static_cast<char>(tag));
  auto length = static_cast<unsigned>(bytes.size());
  for (; length >= 128; length >>= 7) out.push_back(static_cast<char>(length | 128));
  out.push_back(static_cast<char>(length));
  return out + bytes;
}

std::string node(const std::string& operator_name, const std::vector<std::string>& inputs,
                 const std::string& more = "") {
  std::string out = field(3, "n1") + field(4, operator_name) + more;
  for (const std::string& input : inputs) out += field(1, input);
  return out;
}

std::string model(const std::string& node) { return field(7, field(1, node)); }

Status check(const std::string& bytes) {
  return check_onnx_inputs(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

TEST(OnnxCheckTest, EnoughInputsPass) {
  EXPECT_TRUE(check(model(node("Conv", {"x", "w"}))));
  EXPECT_TRUE(check(model(node("Conv", {"x", "w", "b"}))));
  EXPECT_TRUE(check(model(node("Constant", {}))));
}

TEST(OnnxCheckTest, NamesTheNodeThatLacksOne) {
  EXPECT_THAT(check(model(node("Conv", {"x"}))).error().message,
              HasSubstr("node 'n1' (Conv) has 1 of the 2 inputs"));
  EXPECT_FALSE(check(model(node("Relu", {}))));
  EXPECT_FALSE(check(model(node("Conv", {"", "w"}))));  // "" stands for an absent input
}

TEST(OnnxCheckTest, OtherDomainsAndUnknownOperatorsPass) {
  EXPECT_TRUE(check(model(node("Conv", {}, field(7, "com.example")))));
  EXPECT_TRUE(check(model(node("Nonsense", {}))));
}

TEST(OnnxCheckTest, LooksIntoSubGraphsAndFunctions) {
  const std::string body = field(1, node("Add", {"a"}));
  EXPECT_FALSE(check(model(node("If", {"c"}, field(5, field(6, body))))));
  EXPECT_FALSE(check(field(25, field(7, node("Add", {"a"})))));
}

TEST(OnnxCheckTest, DeepNestingIsAnError) {
  std::string graph = field(1, node("Relu", {"x"}));
  for (int i = 0; i < 60; ++i) graph = field(1, node("If", {"c"}, field(5, field(6, graph))));
  EXPECT_THAT(check(field(7, graph)).error().message, HasSubstr("nested"));
}

TEST(OnnxCheckTest, WhatIsNotProtobufIsLeftToOpenVino) {
  EXPECT_TRUE(check("not a model"));
  EXPECT_TRUE(check(""));
  const std::string bytes = model(node("Conv", {"x", "w"}));
  for (std::size_t i = 0; i < bytes.size(); ++i) (void)check(bytes.substr(0, i));
}

}  // namespace
}  // namespace proa::backends::openvino
