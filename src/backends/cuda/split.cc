#include "backends/cuda/split.h"

#include <algorithm>
#include <utility>

#include "backends/cuda/convert_ops.h"
#include "backends/cuda/cost.h"
#include "backends/cuda/import.h"
#include "backends/openvino/convert.h"
#include "backends/openvino/guard.h"
#include "openvino/core/model.hpp"
#include "openvino/op/constant.hpp"
#include "openvino/op/parameter.hpp"
#include "openvino/op/result.hpp"

namespace proa::backends::cuda {
namespace {

using NodePtr = std::shared_ptr<ov::Node>;
using Port = ov::Output<ov::Node>;

bool is_end(const ov::Node& node) {
  return ov::is_type<ov::op::v0::Parameter>(&node) || ov::is_type<ov::op::v0::Result>(&node) ||
         ov::is_type<ov::op::v0::Constant>(&node);
}

// A copy in which every node has a name of its own: nodes are found again by it in further copies.
std::shared_ptr<ov::Model> named_copy(const ov::Model& model) {
  std::shared_ptr<ov::Model> copy = model.clone();
  std::set<std::string> taken;
  for (const NodePtr& node : copy->get_ordered_ops()) {
    std::string name = node->get_friendly_name();
    while (!taken.insert(name).second) name += "'";
    node->set_friendly_name(name);
  }
  return copy;
}

class Splitter {
 public:
  Splitter(std::shared_ptr<ov::Model> model, const PlacementOptions& options)
      : model_(std::move(model)), options_(options) {}

  Result<SplitModel> run() {
    PROA_TRY(place());
    segments_ = make_segments(placed_, {options_.min_cluster_ops, options_.by_cost});
    note_small_clusters();
    if (std::ranges::none_of(segments_, [](const Segment& s) { return s.side == Side::kGpu; })) {
      return nothing_on_gpu();
    }
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      for (const int index : segments_[s].operators) segment_of_[operators_[index].get()] = s;
    }
    collect_inputs();
    PROA_TRY(collect_ends());
    for (std::size_t s = 0; s < segments_.size(); ++s) build_part(s);
    for (Fallback& each : split_.fallbacks) each.part = part_of(each.node);
    return std::move(split_);
  }

 private:
  // Sides of all operators. Those that are folded away (sizes computed from shapes) have none and
  // go with whoever reads them.
  Status place() {
    PROA_ASSIGN(survey_, survey_model(model_));
    const auto& survey = survey_.reasons;
    std::map<const ov::Node*, int> index_of;
    for (const NodePtr& node : model_->get_ordered_ops()) {
      const auto found = survey.find(node->get_friendly_name());
      if (is_end(*node) || found == survey.end()) continue;
      std::string reason = found->second;
      const std::string type = node->get_type_info().name;
      if (reason.empty() && (options_.cpu_operators.contains(type) ||
                             options_.cpu_nodes.contains(node->get_friendly_name()))) {
        reason = "placed there by the configuration";
      }
      PlacedOperator placed;
      if (!reason.empty()) {
        placed.side = Side::kCpu;
        split_.fallbacks.push_back({node->get_friendly_name(), type, reason});
      }
      const ShapeOf shape_of = [this](const Port& port) { return row_shape(port); };
      placed.bytes = result_bytes(*node, shape_of);
      placed.saved_us = saved_us(*node, shape_of, options_.rows, options_.processors);
      std::set<int> inputs;
      for (const Port& input : node->input_values()) find_producers(input, index_of, inputs);
      placed.inputs.assign(inputs.begin(), inputs.end());
      index_of[node.get()] = static_cast<int>(operators_.size());
      operators_.push_back(node);
      placed_.push_back(std::move(placed));
    }
    return {};
  }

  // Of a tensor for one row; empty where it is not known.
  Shape row_shape(const Port& port) const {
    if (const auto* constant = ov::as_type<const ov::op::v0::Constant>(port.get_node())) {
      return openvino::from_ov_shape(constant->get_shape());
    }
    const auto found =
        survey_.shapes.find({port.get_node()->get_friendly_name(), port.get_index()});
    if (found == survey_.shapes.end()) return {};
    Shape shape = found->second;
    if (!shape.empty() && shape[0] == Shape::kAny) shape[0] = 1;
    return shape;
  }

  // The operators that `port` comes from, past folded ones.
  static void find_producers(const Port& port, const std::map<const ov::Node*, int>& index_of,
                             std::set<int>& found) {
    const auto at = index_of.find(port.get_node());
    if (at != index_of.end()) {
      found.insert(at->second);
      return;
    }
    for (const Port& input : port.get_node()->input_values()) {
      find_producers(input, index_of, found);
    }
  }

  void note_small_clusters() {
    for (const Segment& segment : segments_) {
      if (segment.side != Side::kCpu) continue;
      for (const int index : segment.operators) {
        if (placed_[static_cast<std::size_t>(index)].side == Side::kCpu) continue;
        const NodePtr& node = operators_[static_cast<std::size_t>(index)];
        split_.fallbacks.push_back(
            {node->get_friendly_name(), node->get_type_info().name,
             fmt::format(
                 "what would run together has fewer than min_cluster_ops = {} operators, or "
                 "is not worth its copies",
                 options_.min_cluster_ops)});
      }
    }
  }

  int part_of(const std::string& node) const {
    for (std::size_t i = 0; i < operators_.size(); ++i) {
      if (operators_[i]->get_friendly_name() != node) continue;
      return static_cast<int>(segment_of_.at(operators_[i].get()));
    }
    return 0;
  }

  Error nothing_on_gpu() const {
    std::set<std::string> reasons;
    for (const Fallback& each : split_.fallbacks)
      reasons.insert(each.type + " (" + each.reason + ")");
    std::string text;
    for (const std::string& reason : reasons) text += (text.empty() ? "" : "; ") + reason;
    return error::unimplemented(
        "nothing of this model can run on the GPU: {}; write KIND_CPU in its instance_group", text);
  }

  // The tensors that each segment reads of others.
  void collect_inputs() {
    needs_.resize(segments_.size());
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      for (const int index : segments_[s].operators) {
        for (const Port& input : operators_[static_cast<std::size_t>(index)]->input_values()) {
          need(s, input);
        }
      }
    }
  }

  void need(std::size_t segment, const Port& port) {
    const ov::Node* node = port.get_node();
    if (ov::is_type<ov::op::v0::Constant>(node)) return;
    const auto at = segment_of_.find(node);
    if (at != segment_of_.end() && at->second == segment) return;
    if (at == segment_of_.end() && !ov::is_type<ov::op::v0::Parameter>(node)) {
      for (const Port& input : node->input_values()) need(segment, input);
      return;
    }
    if (std::ranges::find(needs_[segment], port) == needs_[segment].end()) {
      needs_[segment].push_back(port);
    }
  }

  Result<int> tensor_of(const Port& port) {
    const auto known = tensor_index_.find(port);
    if (known != tensor_index_.end()) return known->second;
    const std::string& name = port.get_node()->get_friendly_name();
    PROA_ASSIGN(const DataType type, data_type_of(port.get_element_type()));
    const auto shape = survey_.shapes.find({name, port.get_index()});
    if (shape == survey_.shapes.end()) {
      return error::unimplemented(
          "'{}' has to cross between CPU and GPU (or to the client), but its shape {} depends on "
          "data or the batch; write KIND_CPU in the model's instance_group",
          name, port.get_partial_shape().to_string());
    }
    const int index = static_cast<int>(split_.tensors.size());
    split_.tensors.push_back({name, type, shape->second});
    tensor_index_[port] = index;
    ports_.push_back(port);
    return index;
  }

  Status collect_ends() {
    for (const auto& parameter : model_->get_parameters()) {
      PROA_ASSIGN(split_.inputs.emplace_back(), tensor_of(parameter->output(0)));
    }
    for (const auto& needs : needs_) {
      for (const Port& port : needs) PROA_TRY(tensor_of(port));
    }
    for (const auto& result : model_->get_results()) {
      const Port source = result->input_value(0);
      const bool made = segment_of_.contains(source.get_node()) ||
                        ov::is_type<ov::op::v0::Parameter>(source.get_node());
      if (!made) {
        return error::unimplemented("output '{}' does not depend on the inputs",
                                    result->get_friendly_name());
      }
      PROA_ASSIGN(split_.outputs.emplace_back(), tensor_of(source));
    }
    return {};
  }

  // The segment as a model: a copy of the whole one, cut off at the tensors that it reads.
  void build_part(std::size_t segment) {
    Part part;
    part.side = segments_[segment].side;
    part.operators = static_cast<int>(segments_[segment].operators.size());
    const std::shared_ptr<ov::Model> copy = model_->clone();
    std::map<std::string, NodePtr> by_name;
    for (const NodePtr& node : copy->get_ordered_ops()) by_name[node->get_friendly_name()] = node;
    const auto in_copy = [&](const Port& port) {
      return by_name.at(port.get_node()->get_friendly_name())->output(port.get_index());
    };
    ov::ResultVector results;
    for (std::size_t index = 0; index < ports_.size(); ++index) {
      const Port& port = ports_[index];
      const auto at = segment_of_.find(port.get_node());
      if (at == segment_of_.end() || at->second != segment) continue;
      results.push_back(std::make_shared<ov::op::v0::Result>(in_copy(port)));
      part.outputs.push_back(static_cast<int>(index));
    }
    ov::ParameterVector parameters;
    for (const Port& port : needs_[segment]) {
      Port source = in_copy(port);
      const EdgeTensor& tensor = split_.tensors[static_cast<std::size_t>(tensor_index_.at(port))];
      auto parameter = std::make_shared<ov::op::v0::Parameter>(
          source.get_element_type(), openvino::to_ov_partial_shape(tensor.shape));
      parameter->set_friendly_name(std::string(kFromOtherPart) +
                                   source.get_node()->get_friendly_name());
      for (ov::Input<ov::Node> reader : source.get_target_inputs()) {
        reader.replace_source_output(parameter);
      }
      parameters.push_back(std::move(parameter));
      part.inputs.push_back(tensor_index_.at(port));
    }
    part.model = std::make_shared<ov::Model>(results, parameters, model_->get_friendly_name());
    split_.parts.push_back(std::move(part));
  }

  const std::shared_ptr<ov::Model> model_;
  const PlacementOptions& options_;
  Survey survey_;
  std::vector<NodePtr> operators_;
  std::vector<PlacedOperator> placed_;
  std::vector<Segment> segments_;
  std::map<const ov::Node*, std::size_t> segment_of_;
  std::vector<std::vector<Port>> needs_;  // by segment
  std::map<Port, int> tensor_index_;
  std::vector<Port> ports_;  // by tensor
  SplitModel split_;
};

}  // namespace

std::size_t EdgeTensor::bytes(std::int64_t rows) const {
  Shape whole = shape;
  if (!whole.empty() && whole[0] == Shape::kAny) whole[0] = rows;
  return static_cast<std::size_t>(whole.element_count().value_or(0)) * element_size(type);
}

Result<SplitModel> split_model(const std::shared_ptr<const ov::Model>& model,
                               const PlacementOptions& options) {
  return openvino::guarded(
      ErrorCode::kInvalidArgument, "the model cannot be divided between GPU and CPU",
      [&]() -> Result<SplitModel> { return Splitter(named_copy(*model), options).run(); });
}

}  // namespace proa::backends::cuda
