#include "config/message_rules.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "config/path_rules.h"
#include "proto/model_config.pb.h"

namespace proa::config {
namespace {

void check_paths(const inference::ModelConfig& message, Problems& problems) {
  check_stays_inside(message.runtime(), "the backend's folder", "runtime", problems);
  check_stays_inside(message.default_model_filename(), "the version's folder",
                     "default_model_filename", problems);
  for (const auto& [capability, file] : message.cc_model_filenames()) {
    check_stays_inside(file, "the version's folder",
                       fmt::format("cc_model_filenames[{}]", log::printable(capability)), problems);
  }
}

void check_response_cache(const inference::ModelConfig& message, Problems& problems) {
  if (!message.response_cache().enable()) return;
  const auto refuse = [&](std::string_view other) {
    problems.add("response_cache.enable",
                 fmt::format("it cannot hold together with {}, whose responses depend on more than "
                             "the request: remove one of the two",
                             other));
  };
  if (message.has_sequence_batching()) refuse("sequence_batching");
  if (message.model_transaction_policy().decoupled()) {
    refuse("model_transaction_policy { decoupled: true }");
  }
}

void check_metrics(const inference::ModelConfig& message, Problems& problems) {
  for (int i = 0; i < message.model_metrics().metric_control_size(); ++i) {
    const auto& control = message.model_metrics().metric_control(i);
    const std::string field = fmt::format("model_metrics.metric_control[{}]", i);
    if (control.metric_identifier().family().empty()) {
      problems.add(field + ".metric_identifier.family",
                   "it is missing: write the name of a metric, for example "
                   "\"nv_inference_first_response_histogram_ms\"");
    }
    if (!control.has_histogram_options()) {
      problems.add(field + ".histogram_options",
                   "it is missing: write the upper bounds of its buckets, for example "
                   "histogram_options { buckets: [ 1, 10, 100 ] }");
    }
  }
}

void check_one_source(int count, const std::string& field, Problems& problems) {
  if (count == 1) return;
  problems.add(field + ".source_input",
               fmt::format("it lists {} inputs and must list exactly one", count));
}

void check_batch_inputs(const inference::ModelConfig& message, Problems& problems) {
  for (int i = 0; i < message.batch_input_size(); ++i) {
    const inference::BatchInput& input = message.batch_input(i);
    const std::string field = fmt::format("batch_input[{}]", i);
    if (input.target_name().empty()) {
      problems.add(field + ".target_name", "it names no tensor of the model: write its name");
    }
    if (input.data_type() != inference::TYPE_INT32 && input.data_type() != inference::TYPE_FP32) {
      problems.add(field + ".data_type",
                   fmt::format("{} cannot be made from a batch: write TYPE_INT32 or TYPE_FP32",
                               inference::DataType_Name(input.data_type())));
    }
    check_one_source(input.source_input_size(), field, problems);
  }
}

void check_batch_outputs(const inference::ModelConfig& message, Problems& problems) {
  std::set<std::string_view> outputs, seen;
  for (const auto& output : message.output()) outputs.insert(output.name());
  for (int i = 0; i < message.batch_output_size(); ++i) {
    const inference::BatchOutput& output = message.batch_output(i);
    const std::string field = fmt::format("batch_output[{}]", i);
    check_one_source(output.source_input_size(), field, problems);
    if (output.target_name().empty()) {
      problems.add(field + ".target_name", "it names no output of the model: write its name");
    }
    for (int k = 0; k < output.target_name_size(); ++k) {
      const std::string& name = output.target_name(k);
      const std::string target = fmt::format("{}.target_name[{}]", field, k);
      if (!outputs.contains(name)) {
        problems.add(target,
                     fmt::format("there is no output '{}': write the name of one of `output`",
                                 log::printable(name)));
      } else if (!seen.insert(name).second) {
        problems.add(target,
                     fmt::format("output '{}' is the target of an earlier batch_output too: "
                                 "remove one",
                                 log::printable(name)));
      }
    }
  }
}

}  // namespace

void check_message(const inference::ModelConfig& message, Problems& problems) {
  check_paths(message, problems);
  check_response_cache(message, problems);
  check_metrics(message, problems);
  check_batch_inputs(message, problems);
  check_batch_outputs(message, problems);
  check_sequences(message, problems);
  check_ensemble(message, problems);
}

}  // namespace proa::config
