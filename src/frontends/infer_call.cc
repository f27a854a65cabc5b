#include "frontends/infer_call.h"

#include <utility>

#include "boost/container/small_vector.hpp"
#include "core/request_builder.h"
#include "frontends/options.h"
#include "protocol/classification.h"

namespace proa::frontends {
namespace {

Status check_data_types(const protocol::InferRequest& message) {
  for (const protocol::InferInput& input : message.inputs) {
    if (input.type != DataType::kInvalid) continue;
    return error::invalid_argument("inference input '{}' has the unknown data type '{}'",
                                   input.name, input.datatype);
  }
  return {};
}

void set_options(protocol::InferRequest& message, core::Request& request) {
  request.parameters = std::move(message.parameters);
  request.correlation_id = std::move(message.sequence_id);
  request.sequence_start = message.sequence_start;
  request.sequence_end = message.sequence_end;
  request.priority = message.priority;
  request.timeout = core::queue_timeout(message.timeout_us);
}

// Adds output `index` of the model to the answer.
Status add_output(const core::Model& model, std::size_t index, std::uint32_t classes,
                  std::optional<bool> binary, bool binary_default, Answer& answer) {
  const config::Tensor& output = model.config().outputs[index];
  const Tensor* tensor = &answer.core.outputs[index];
  if (classes > 0) {
    auto labels =
        protocol::classify(*tensor, classes, model.labels(index), model.config().batches());
    if (!labels) return with_context(fmt::format("output '{}'", output.name), labels.error());
    answer.classes.push_back(std::move(*labels));
    tensor = &answer.classes.back();
  }
  answer.response.outputs.push_back(
      {output.name, tensor, binary.value_or(binary_default), Parameters()});
  return {};
}

}  // namespace

Status reserve_decoded(core::MemoryBudget& budget, const protocol::InferRequest& message,
                       core::MemoryBudget::Reservation& memory) {
  auto share = budget.try_reserve(message.decoded_bytes);
  if (!share) return over_budget(budget, message.decoded_bytes);
  memory.merge(std::move(*share));
  return {};
}

Status start_inference(protocol::InferRequest& message, InferCall call) {
  PROA_TRY(check_data_types(message));
  boost::container::small_vector<core::NamedInput, 4> inputs;
  for (protocol::InferInput& input : message.inputs) {
    inputs.push_back({input.name, input.type, std::move(input.shape), std::move(input.data)});
  }
  boost::container::small_vector<std::string_view, 4> outputs;
  for (const protocol::InferRequestedOutput& output : message.outputs) {
    outputs.push_back(output.name);
  }
  core::Model& model = *call.model;
  PROA_ASSIGN(auto request,
              core::build_request(std::move(call.model), inputs, outputs, message.id));
  set_options(message, *request);
  request->deadline = call.deadline;
  request->times.received = call.received;
  request->memory = std::move(call.memory);
  request->cancellation = std::move(call.cancellation);
  request->sink = std::move(call.sink);
  model.infer(std::move(request));
  return {};
}

Status make_answer(const core::Model& model, const protocol::InferRequest& message,
                   core::Response response, Answer& answer) {
  answer.core = std::move(response);
  answer.response.model_name = model.name();
  answer.response.model_version = model.version_string();
  answer.response.id = message.id;
  answer.response.parameters = std::move(answer.core.parameters);
  const auto& produced = answer.core.outputs;
  if (message.outputs.empty()) {
    answer.response.outputs.reserve(produced.size());
    for (std::size_t i = 0; i < produced.size(); ++i) {
      if (produced[i].type == DataType::kInvalid) continue;
      PROA_TRY(add_output(model, i, 0, {}, message.binary_data_output, answer));
    }
    return {};
  }
  answer.response.outputs.reserve(message.outputs.size());
  answer.classes.reserve(message.outputs.size());  // the answer points into it
  for (const protocol::InferRequestedOutput& wanted : message.outputs) {
    const auto i = static_cast<std::size_t>(model.config().find_output(wanted.name));
    if (i >= produced.size() || produced[i].type == DataType::kInvalid) {
      if (model.config().ensemble) continue;  // a step gave none; as in Triton, it is left out
      return error::internal("model '{}' gave no output '{}'", model.name(), wanted.name);
    }
    PROA_TRY(add_output(model, i, wanted.classification, wanted.binary, message.binary_data_output,
                        answer));
  }
  return {};
}

std::size_t answer_bytes(const core::Response& response) {
  std::size_t bytes = 0;
  for (const Tensor& tensor : response.outputs) bytes += tensor.data.size;
  return bytes;
}

}  // namespace proa::frontends
