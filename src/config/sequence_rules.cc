#include <array>
#include <set>

#include "base/log.h"
#include "config/message_rules.h"
#include "config/path_rules.h"
#include "proto/model_config.pb.h"

namespace proa::config {
namespace {

using inference::ModelSequenceBatching;
using Control = ModelSequenceBatching::Control;

constexpr std::array kCorrelationIdTypes = {inference::TYPE_UINT64, inference::TYPE_INT64,
                                            inference::TYPE_UINT32, inference::TYPE_INT32,
                                            inference::TYPE_STRING};

void check_false_true(const Control& control, const std::string& field, Problems& problems) {
  int lists = 0;
  for (const int values : {control.int32_false_true_size(), control.fp32_false_true_size(),
                           control.bool_false_true_size()}) {
    if (values == 0) continue;
    ++lists;
    if (values != 2) {
      problems.add(field, fmt::format("its false and true are {} values and must be exactly two, "
                                      "for example int32_false_true: [ 0, 1 ]",
                                      values));
    }
  }
  if (lists != 1) {
    problems.add(field, fmt::format("{} of int32_false_true, fp32_false_true and bool_false_true "
                                    "are given: give exactly one",
                                    lists));
  }
}

void check_correlation_id(const Control& control, const std::string& field, Problems& problems) {
  bool known = false;
  for (const inference::DataType type : kCorrelationIdTypes) known |= control.data_type() == type;
  if (!known) {
    problems.add(field + ".data_type",
                 fmt::format("{} is no type of a correlation id: write TYPE_UINT64, TYPE_INT64, "
                             "TYPE_UINT32, TYPE_INT32 or TYPE_STRING",
                             inference::DataType_Name(control.data_type())));
  }
  if (!control.int32_false_true().empty() || !control.fp32_false_true().empty() ||
      !control.bool_false_true().empty()) {
    problems.add(field, "a correlation id has no false and true: remove them");
  }
}

void check_controls(const ModelSequenceBatching& message, Problems& problems) {
  std::set<Control::Kind> seen;
  for (int i = 0; i < message.control_input_size(); ++i) {
    const ModelSequenceBatching::ControlInput& input = message.control_input(i);
    const std::string field = fmt::format("sequence_batching.control_input[{}]", i);
    if (input.name().empty()) {
      problems.add(field + ".name", "it is missing: write the name of the model's tensor");
    }
    for (int k = 0; k < input.control_size(); ++k) {
      const Control& control = input.control(k);
      const std::string place = fmt::format("{}.control[{}]", field, k);
      if (!seen.insert(control.kind()).second) {
        problems.add(place + ".kind", fmt::format("{} is given to an earlier input too: remove one",
                                                  Control::Kind_Name(control.kind())));
      }
      if (control.kind() == Control::CONTROL_SEQUENCE_CORRID) {
        check_correlation_id(control, place, problems);
      } else {
        check_false_true(control, place, problems);
      }
    }
  }
}

void check_initial_state(const ModelSequenceBatching::State& state, const std::string& field,
                         Problems& problems) {
  if (state.initial_state_size() > 1) {
    problems.add(field, fmt::format("it lists {} initial states and may list one",
                                    state.initial_state_size()));
  }
  for (int i = 0; i < state.initial_state_size(); ++i) {
    const ModelSequenceBatching::InitialState& initial = state.initial_state(i);
    const std::string place = fmt::format("{}.initial_state[{}]", field, i);
    if (initial.name().empty()) problems.add(place + ".name", "it is missing: write a name");
    if (initial.state_data_case() == ModelSequenceBatching::InitialState::STATE_DATA_NOT_SET) {
      problems.add(place, "it has no data: write zero_data: true or data_file: \"FILE\"");
    }
    check_stays_inside(initial.data_file(), "the folder initial_state/ of the model",
                       place + ".data_file", problems);
  }
}

void check_states(const ModelSequenceBatching& message, Problems& problems) {
  for (int i = 0; i < message.state_size(); ++i) {
    const ModelSequenceBatching::State& state = message.state(i);
    const std::string field = fmt::format("sequence_batching.state[{}]", i);
    if (state.input_name().empty()) {
      problems.add(field + ".input_name", "it is missing: write the name of the model's input");
    }
    if (state.output_name().empty()) {
      problems.add(field + ".output_name", "it is missing: write the name of the model's output");
    }
    if (state.data_type() == inference::TYPE_INVALID) {
      problems.add(field + ".data_type", "it is missing: write one, for example TYPE_FP32");
    }
    if (state.dims().empty()) {
      problems.add(field + ".dims", "it is missing: write one extent per dimension, -1 for any");
    }
    check_initial_state(state, field, problems);
  }
}

void check_strategy(const inference::ModelConfig& model, Problems& problems) {
  const ModelSequenceBatching& message = model.sequence_batching();
  const float utilization = message.direct().minimum_slot_utilization();
  if (!(utilization >= 0 && utilization <= 1)) {
    problems.add(
        "sequence_batching.direct.minimum_slot_utilization",
        fmt::format("{} is no share of the slots; write a number from 0 to 1", utilization));
  }
  for (int i = 0; i < message.oldest().preferred_batch_size_size(); ++i) {
    const std::int32_t size = message.oldest().preferred_batch_size(i);
    if (size >= 1 && size <= std::max(1, model.max_batch_size())) continue;
    problems.add(fmt::format("sequence_batching.oldest.preferred_batch_size[{}]", i),
                 fmt::format("{} is no batch size of this model; write a number from 1 to "
                             "max_batch_size, {}",
                             size, model.max_batch_size()));
  }
}

}  // namespace

void check_sequences(const inference::ModelConfig& message, Problems& problems) {
  if (!message.has_sequence_batching()) return;
  check_controls(message.sequence_batching(), problems);
  check_states(message.sequence_batching(), problems);
  check_strategy(message, problems);
}

}  // namespace proa::config
