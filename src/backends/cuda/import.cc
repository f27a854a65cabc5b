#include "backends/cuda/import.h"

#include <set>

#include "backends/cuda/convert_ops.h"
#include "backends/openvino/convert.h"
#include "backends/openvino/guard.h"
#include "backends/openvino/model_reader.h"
#include "backends/openvino/signature.h"
#include "engine/plan/implementation.h"
#include "openvino/core/model.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/result.hpp"
#include "openvino/pass/constant_folding.hpp"

namespace proa::backends::cuda {
namespace {

engine::Dims dims_of(const ov::Shape& shape) { return {shape.begin(), shape.end()}; }

Shape shape_of(const ov::Shape& shape) {
  return Shape(std::span<const std::int64_t>(dims_of(shape)));
}

// A port's own name, or its node's where the format gives none.
std::string port_name(const auto& port) {
  return port.get_names().empty() ? port.get_node()->get_friendly_name() : port.get_any_name();
}

// What one node of the model adds to the graph. Errors: the reason why it cannot.
Status import_node(ImportState& state, const std::shared_ptr<ov::Node>& node) {
  const std::string& name = node->get_friendly_name();
  if (node->get_output_partial_shape(0).is_dynamic()) {
    return error::unimplemented("the shape of its output depends on data");
  }
  PROA_ASSIGN(const DataType type, data_type_of(node->get_output_element_type(0)));
  const Shape shape = shape_of(node->get_output_shape(0));
  if (ov::is_type<ov::op::v0::Parameter>(node) || ov::is_type<ov::op::v0::Result>(node)) {
    return {};  // done before and after, in the model's order
  }
  if (auto constant = ov::as_type_ptr<ov::op::v0::Constant>(node)) {
    auto* data = static_cast<std::byte*>(const_cast<void*>(constant->get_data_ptr()));
    Buffer bytes = Buffer::wrap(data, constant->get_byte_size(), [constant] {});
    state.values[node->output(0)] = state.graph.add_constant(name, type, shape, std::move(bytes));
    return {};
  }
  const Converter convert = find_converter(node->get_type_info().name);
  if (convert == nullptr) return error::unimplemented("no counterpart in the engine");
  PROA_ASSIGN(const engine::ValueId value, convert(state, *node));
  if (state.graph.value(value).shape != shape) {
    return error::unimplemented("computes {} where OpenVINO says {}",
                                state.graph.value(value).shape.to_string(), shape.to_string());
  }
  state.values[node->output(0)] = value;
  return {};
}

bool is_wide_integer(DataType type) {
  return type == DataType::kInt32 || type == DataType::kUint32 || type == DataType::kInt64 ||
         type == DataType::kUint64;
}

// Why no plan has a kernel for what was added to the graph from node `first` on, or "".
std::string plan_obstacle(const engine::Graph& graph, std::size_t first) {
  for (std::size_t i = first; i < graph.nodes.size(); ++i) {
    const engine::Node& node = graph.nodes[i];
    // The passes fold these.
    if (std::holds_alternative<engine::BatchNorm>(node.op)) continue;
    if (engine::implementations_of(node.op).empty()) continue;  // needs none
    if (is_wide_integer(graph.value(node.output()).type) &&
        is_wide_integer(graph.value(node.input(0)).type)) {
      return "kernels compute in FP32, which does not hold all integers of 32 and 64 bits";
    }
    const engine::Offers offers = engine::offers_for(graph, node, engine::Target{});
    if (offers.candidates.empty()) {
      return "its kernel " + std::string(offers.declined.back().reason);
    }
  }
  return "";
}

bool inputs_known(const ImportState& state, const ov::Node& node) {
  for (const ov::Output<ov::Node>& input : node.input_values()) {
    if (!state.values.contains(input)) return false;
  }
  return true;
}

Status import_inputs(ImportState& state, const ov::Model& model) {
  for (const ov::Output<const ov::Node>& input : model.inputs()) {
    PROA_ASSIGN(const DataType type, data_type_of(input.get_element_type()));
    auto node = std::const_pointer_cast<ov::Node>(input.get_node_shared_ptr());
    state.values[node->output(0)] =
        state.graph.add_input(port_name(input), type, shape_of(input.get_shape()));
  }
  return {};
}

Error list_error(const std::vector<Unsupported>& found) {
  std::set<std::string> lines;
  for (const Unsupported& each : found) {
    lines.insert(each.type + " (" + each.reason + ", node '" + each.node + "')");
  }
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "; ") + line;
  return error::unimplemented("operators that the engine cannot run: {}", text);
}

Result<engine::Graph> import_fixed(const ov::Model& model, std::vector<Unsupported>& unsupported) {
  ImportState state;
  state.graph.name = model.get_friendly_name();
  PROA_TRY(import_inputs(state, model));
  for (const std::shared_ptr<ov::Node>& node : model.get_ordered_ops()) {
    if (!inputs_known(state, *node)) continue;  // behind an unsupported one
    if (Status status = import_node(state, node); !status) {
      unsupported.push_back(
          {node->get_friendly_name(), node->get_type_info().name, status.error().message});
    }
  }
  if (!unsupported.empty()) return list_error(unsupported);
  for (const auto& result : model.get_results()) {
    state.graph.outputs.push_back(state.input(*result, 0));
  }
  for (std::size_t i = 0; i < state.graph.outputs.size(); ++i) {
    const auto& names = model.output(i).get_names();
    if (!names.empty()) state.graph.value(state.graph.outputs[i]).name = *names.begin();
  }
  PROA_TRY(engine::verify(state.graph));
  return std::move(state.graph);
}

// Lets what reads an operator that is not there be judged by itself: its outputs become inputs.
void stand_in(ImportState& state, const ov::Node& node) {
  for (const ov::Output<const ov::Node>& output : node.outputs()) {
    const auto type = data_type_of(output.get_element_type());
    if (!type || output.get_partial_shape().is_dynamic()) continue;
    const ov::Output<ov::Node> port(std::const_pointer_cast<ov::Node>(node.shared_from_this()),
                                    output.get_index());
    state.values[port] =
        state.graph.add_input(node.get_friendly_name(), *type, shape_of(output.get_shape()));
  }
}

Result<std::map<std::string, std::string>> survey_fixed(const ov::Model& model) {
  ImportState state;
  PROA_TRY(import_inputs(state, model));
  std::map<std::string, std::string> reasons;
  for (const std::shared_ptr<ov::Node>& node : model.get_ordered_ops()) {
    if (node->get_input_size() == 0 || ov::is_type<ov::op::v0::Result>(node)) {
      // Constants of types that the engine lacks are their readers' reason.
      (void)import_node(state, node);
      continue;
    }
    std::string& reason = reasons[node->get_friendly_name()];
    const std::size_t first = state.graph.nodes.size();
    if (!inputs_known(state, *node)) {
      reason = "reads a tensor of a type that the engine lacks, or whose shape depends on data";
    } else if (Status status = import_node(state, node); !status) {
      reason = status.error().message;
    } else {
      reason = plan_obstacle(state.graph, first);
    }
    if (!reason.empty()) stand_in(state, *node);
  }
  return reasons;
}

// The shapes that two copies for a batch of 1 and of 2 have in common.
std::map<std::pair<std::string, std::size_t>, Shape> row_shapes(const ov::Model& one,
                                                                const ov::Model& two) {
  std::map<std::pair<std::string, std::size_t>, Shape> first, common;
  for (const std::shared_ptr<ov::Node>& node : one.get_ordered_ops()) {
    for (const auto& output : node->outputs()) {
      if (output.get_partial_shape().is_dynamic()) continue;
      first[{node->get_friendly_name(), output.get_index()}] = shape_of(output.get_shape());
    }
  }
  for (const std::shared_ptr<ov::Node>& node : two.get_ordered_ops()) {
    for (const auto& output : node->outputs()) {
      const std::pair key(node->get_friendly_name(), output.get_index());
      const auto at = first.find(key);
      if (at == first.end() || output.get_partial_shape().is_dynamic()) continue;
      Shape shape = shape_of(output.get_shape());
      const bool batch = shape.rank() > 0 && shape[0] == 2 && at->second[0] == 1;
      if (batch) shape[0] = 1;
      if (shape != at->second) continue;
      if (batch) shape[0] = Shape::kAny;
      common[key] = shape;
    }
  }
  return common;
}

}  // namespace

Status set_input_shapes(ov::Model& model, const std::map<std::string, Shape>& shapes) {
  const openvino::Signature signature = openvino::read_signature(model);
  std::map<ov::Output<ov::Node>, ov::PartialShape> wanted;
  for (const auto& [name, shape] : shapes) {
    const int port = openvino::find_tensor(signature.inputs, name);
    if (port < 0) {
      return error::invalid_argument("the model has no input '{}'; it has {}", name,
                                     openvino::list_names(signature.inputs));
    }
    const auto input = model.input(static_cast<std::size_t>(port));
    ov::PartialShape whole = openvino::to_ov_partial_shape(shape);
    const ov::PartialShape& old = input.get_partial_shape();
    if (old.rank().is_static() && old.size() == whole.size() + 1) {
      whole.insert(whole.begin(), old[0]);
    }
    wanted.emplace(input, whole);
  }
  return openvino::guarded(ErrorCode::kInvalidArgument, "the model cannot take these shapes",
                           [&] { model.reshape(wanted); });
}

Result<std::shared_ptr<ov::Model>> fixed_copy(const ov::Model& model, std::int64_t batch) {
  std::shared_ptr<ov::Model> copy = model.clone();
  std::map<ov::Output<ov::Node>, ov::PartialShape> shapes;
  for (const ov::Output<ov::Node>& input : copy->inputs()) {
    ov::PartialShape shape = input.get_partial_shape();
    if (shape.rank().is_dynamic()) {
      return error::invalid_argument("input '{}' has no rank", port_name(input));
    }
    if (shape.size() > 0 && shape[0].is_dynamic()) shape[0] = batch;
    if (shape.is_dynamic()) {
      return error::invalid_argument(
          "input '{}' is {}: extents other than the batch are open; give them with --shape",
          port_name(input), input.get_partial_shape().to_string());
    }
    shapes[input] = shape;
  }
  copy->reshape(shapes);
  ov::pass::ConstantFolding().run_on_model(copy);
  return copy;
}

Result<Survey> survey_model(const std::shared_ptr<const ov::Model>& model) {
  return openvino::guarded(ErrorCode::kInvalidArgument, "the model cannot be prepared",
                           [&]() -> Result<Survey> {
                             Survey survey;
                             PROA_ASSIGN(const auto one, fixed_copy(*model, 1));
                             PROA_ASSIGN(const auto two, fixed_copy(*model, 2));
                             PROA_ASSIGN(survey.reasons, survey_fixed(*one));
                             survey.shapes = row_shapes(*one, *two);
                             return survey;
                           });
}

Result<std::shared_ptr<ov::Model>> read_model(const std::filesystem::path& path) {
  PROA_ASSIGN(const openvino::ModelFile file, openvino::find_model_file(path));
  return openvino::read_model(file);
}

Result<engine::Graph> import_model(const std::shared_ptr<const ov::Model>& model,
                                   std::int64_t batch, std::vector<Unsupported>* unsupported) {
  std::vector<Unsupported> found;
  try {
    PROA_ASSIGN(const std::shared_ptr<ov::Model> fixed, fixed_copy(*model, batch));
    Result<engine::Graph> graph = import_fixed(*fixed, found);
    if (unsupported != nullptr) *unsupported = std::move(found);
    return graph;
  } catch (const std::exception& failure) {
    return error::invalid_argument("the model cannot be prepared: {}", failure.what());
  }
}

}  // namespace proa::backends::cuda
