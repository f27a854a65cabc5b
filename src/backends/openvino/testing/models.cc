#include "backends/openvino/testing/models.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include "openvino/core/graph_util.hpp"
#include "openvino/opsets/opset13.hpp"

namespace proa::backends::openvino::testing {
namespace {

namespace op = ov::opset13;

std::shared_ptr<op::Parameter> parameter(ov::element::Type type, const ov::PartialShape& shape,
                                         const std::string& name) {
  auto node = std::make_shared<op::Parameter>(type, shape);
  node->set_friendly_name(name);
  node->output(0).set_names({name});
  return node;
}

std::shared_ptr<op::Result> result(ov::Output<ov::Node> value, const std::string& name) {
  value.add_names({name});
  return std::make_shared<op::Result>(value);
}

std::shared_ptr<op::Constant> number(float value) {
  return op::Constant::create(ov::element::f32, {}, {value});
}

// Just enough of protobuf's wire format to write ONNX by hand.
// Source: https://protobuf.dev/programming-guides/encoding/, onnx.proto's field numbers.
class Message {
 public:
  Message& varint(int field, std::uint64_t value) {
    raw(static_cast<std::uint64_t>(field) << 3);
    raw(value);
    return *this;
  }
  Message& bytes(int field, const std::string& value) {
    raw(static_cast<std::uint64_t>(field) << 3 | 2);
    raw(value.size());
    text_ += value;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  void raw(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

constexpr int kOnnxFloat = 1;

// ValueInfoProto of an FP32 matrix [N, columns].
std::string onnx_value(const std::string& name, std::uint64_t columns) {
  const std::string rows = Message().bytes(2, "N").text();
  const std::string shape =
      Message().bytes(1, rows).bytes(1, Message().varint(1, columns).text()).text();
  const std::string tensor = Message().varint(1, kOnnxFloat).bytes(2, shape).text();
  return Message().bytes(1, name).bytes(2, Message().bytes(1, tensor).text()).text();
}

std::string onnx_constant(const std::string& name, const std::vector<std::uint64_t>& dims,
                          const std::vector<float>& values) {
  std::string raw(values.size() * sizeof(float), '\0');
  std::memcpy(raw.data(), values.data(), raw.size());
  Message tensor;
  for (const std::uint64_t dim : dims) tensor.varint(1, dim);
  return tensor.varint(2, kOnnxFloat).bytes(8, name).bytes(9, raw).text();
}

std::string onnx_node(const std::string& type, const std::vector<std::string>& inputs,
                      const std::string& output) {
  Message node;
  for (const std::string& input : inputs) node.bytes(1, input);
  return node.bytes(2, output).bytes(4, type).text();
}

std::string onnx_model(const std::string& activation) {
  const std::vector<float> weights{1, 0, -1, 0, 1, 0, 0, 0, 1, 1, 1, 1};
  const std::string graph = Message()
                                .bytes(1, onnx_node("MatMul", {"x", "w"}, "product"))
                                .bytes(1, onnx_node("Add", {"product", "b"}, "sum"))
                                .bytes(1, onnx_node(activation, {"sum"}, "y"))
                                .bytes(2, "dense")
                                .bytes(5, onnx_constant("w", {4, 3}, weights))
                                .bytes(5, onnx_constant("b", {3}, {0.5F, 0, -0.5F}))
                                .bytes(11, onnx_value("x", 4))
                                .bytes(12, onnx_value("y", 3))
                                .text();
  constexpr int kIrVersion = 8, kOpset = 13;
  return Message()
      .varint(1, kIrVersion)
      .bytes(7, graph)
      .bytes(8, Message().varint(2, kOpset).text())
      .text();
}

}  // namespace

std::shared_ptr<ov::Model> affine_model(const ov::PartialShape& shape) {
  const auto x = parameter(ov::element::f32, shape, "x");
  const auto product = std::make_shared<op::Multiply>(x, number(2));
  const auto y = result(std::make_shared<op::Add>(product, number(1)), "y");
  return std::make_shared<ov::Model>(ov::ResultVector{y}, ov::ParameterVector{x});
}

std::shared_ptr<ov::Model> sum_and_copy_model(const ov::PartialShape& shape) {
  const auto a = parameter(ov::element::f32, shape, "a");
  const auto b = parameter(ov::element::f32, shape, "b");
  const auto sum = result(std::make_shared<op::Add>(a, b), "sum");
  const auto kept = result(a, "kept");
  return std::make_shared<ov::Model>(ov::ResultVector{sum, kept}, ov::ParameterVector{a, b});
}

std::shared_ptr<ov::Model> non_zero_model(const ov::PartialShape& shape) {
  const auto x = parameter(ov::element::f32, shape, "x");
  const auto y = result(std::make_shared<op::NonZero>(x, ov::element::i64), "y");
  return std::make_shared<ov::Model>(ov::ResultVector{y}, ov::ParameterVector{x});
}

std::shared_ptr<ov::Model> add_constant_model(const ov::element::Type& type,
                                              std::int64_t constant) {
  const auto x = parameter(type, {-1}, "x");
  const auto number = op::Constant::create(type, {}, {constant});
  const auto y = result(std::make_shared<op::Add>(x, number), "y");
  return std::make_shared<ov::Model>(ov::ResultVector{y}, ov::ParameterVector{x});
}

std::shared_ptr<ov::Model> to_float_model(const ov::element::Type& type) {
  const auto x = parameter(type, {-1}, "x");
  const auto y = result(std::make_shared<op::Convert>(x, ov::element::f32), "y");
  return std::make_shared<ov::Model>(ov::ResultVector{y}, ov::ParameterVector{x});
}

std::shared_ptr<ov::Model> hard_reshape_model(const ov::PartialShape& shape,
                                              const std::vector<std::int64_t>& to) {
  const auto x = parameter(ov::element::f32, shape, "x");
  const auto target = op::Constant::create(ov::element::i64, {to.size()}, to);
  const auto doubled = std::make_shared<op::Multiply>(x, number(2));
  const auto y = result(std::make_shared<op::Reshape>(doubled, target, false), "y");
  return std::make_shared<ov::Model>(ov::ResultVector{y}, ov::ParameterVector{x});
}

std::shared_ptr<ov::Model> string_model() {
  const auto x = parameter(ov::element::string, ov::PartialShape{-1, 1}, "x");
  const auto y = result(x, "y");
  return std::make_shared<ov::Model>(ov::ResultVector{y}, ov::ParameterVector{x});
}

void write_ir(const std::shared_ptr<ov::Model>& model, const std::filesystem::path& path) {
  ov::serialize(model, path.string());
}

std::string onnx_dense_layer() { return onnx_model("Relu"); }
std::string onnx_unknown_operator() { return onnx_model("FrobnicateTensor"); }

std::string tensorflow_graph() {
  constexpr std::uint64_t kFloat = 1;
  const auto attribute = [](const std::string& key, const Message& value) {
    return Message().bytes(1, key).bytes(2, value.text()).text();
  };
  const auto dimension = [](std::int64_t size) {
    return Message().varint(1, static_cast<std::uint64_t>(size)).text();
  };
  const std::string shape = Message().bytes(2, dimension(-1)).bytes(2, dimension(4)).text();
  const Message x = Message()
                        .bytes(1, "x")
                        .bytes(2, "Placeholder")
                        .bytes(5, attribute("dtype", Message().varint(6, kFloat)))
                        .bytes(5, attribute("shape", Message().bytes(7, shape)));
  const Message y = Message().bytes(1, "y").bytes(2, "Relu").bytes(3, "x").bytes(
      5, attribute("T", Message().varint(6, kFloat)));
  return Message().bytes(1, x.text()).bytes(1, y.text()).text();
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << bytes;
}

}  // namespace proa::backends::openvino::testing
