#include "config/field_rules.h"

#include <algorithm>

#include "config/map_key.h"
#include "proto/model_config.pb.h"

namespace proa::config {
namespace {

namespace pb = google::protobuf;

constexpr FieldClass kHonoured = FieldClass::kHonoured;
constexpr FieldClass kWarned = FieldClass::kWarned;
constexpr FieldClass kRefused = FieldClass::kRefused;

constexpr FieldRule kRules[] = {
    {"name", kHonoured, ""},
    {"platform", kHonoured, ""},
    {"backend", kHonoured, ""},
    {"runtime", kWarned, "the backend decides which library runs the model"},
    {"version_policy", kHonoured, ""},
    {"max_batch_size", kHonoured, ""},
    {"input", kHonoured, ""},
    {"input.is_shape_tensor", kRefused,
     "shape tensors exist in TensorRT only; describe the input as an ordinary one"},
    {"input.allow_ragged_batch", kRefused,
     "ragged batches are not built yet; pad the requests to one shape and remove the field"},
    {"input.is_non_linear_format_io", kWarned, "such formats exist in TensorRT only"},
    {"output", kHonoured, ""},
    {"output.is_shape_tensor", kRefused,
     "shape tensors exist in TensorRT only; describe the output as an ordinary one"},
    {"output.is_non_linear_format_io", kWarned, "such formats exist in TensorRT only"},
    {"batch_input", kRefused, "ragged batches are not built yet"},
    {"batch_output", kRefused, "ragged batches are not built yet"},
    {"optimization.graph", kWarned, "the backend chooses its graph optimisations itself"},
    {"optimization.priority", kWarned, "all models have the same priority"},
    {"optimization.cuda", kWarned, "CUDA graphs exist in TensorRT only"},
    {"optimization.execution_accelerators", kHonoured, ""},
    {"optimization.input_pinned_memory", kWarned, "buffers are not copied between devices"},
    {"optimization.output_pinned_memory", kWarned, "buffers are not copied between devices"},
    {"optimization.gather_kernel_buffer_threshold", kWarned, "it steers a kernel of TensorRT"},
    {"optimization.eager_batching", kWarned, "the inputs of a batch are gathered when it starts"},
    {"dynamic_batching", kHonoured, ""},
    {"sequence_batching", kRefused,
     "sequences are not built yet; the model would lose its state between requests"},
    {"ensemble_scheduling", kHonoured, ""},
    {"ensemble_scheduling.step.model_namespace", kWarned, "all repositories are one namespace"},
    {"instance_group", kHonoured, ""},
    {"instance_group.rate_limiter", kWarned,
     "instances run whenever they are free, as in Triton without --rate-limit"},
    {"instance_group.secondary_devices", kWarned, "such devices are not used"},
    {"instance_group.profile", kWarned, "profiles exist in TensorRT only"},
    {"instance_group.passive", kRefused,
     "passive instances are not built yet; remove the group or the field"},
    {"instance_group.host_policy", kWarned, "there are no host policies"},
    {"default_model_filename", kHonoured, ""},
    {"cc_model_filenames", kWarned, "the file is default_model_filename on every device"},
    {"metric_tags", kHonoured, ""},
    {"parameters", kHonoured, ""},
    {"parameters.TRITON_BATCH_STRATEGY_PATH", kRefused,
     "custom batching libraries cannot be loaded; remove the parameter to batch by size and delay"},
    {"model_warmup", kHonoured, ""},
    {"model_operations.op_library_filename", kRefused,
     "libraries of custom operators cannot be loaded; export the model without them"},
    {"model_transaction_policy", kHonoured, ""},
    {"model_repository_agents.agents", kRefused,
     "agents (checksums, decryption) are not built yet, and files must not be served unchecked"},
    {"response_cache.enable", kWarned, "there is no cache; every response is computed"},
    {"model_metrics", kHonoured, ""},
};

// Walks over the fields that a message sets.
class RuleWalk {
 public:
  RuleWalk(Problems& problems, std::vector<std::string>& warnings)
      : problems_(problems), warnings_(warnings) {}

  // `rule_path` is `path` without numbers.
  void visit(const pb::Message& message, const std::string& path, const std::string& rule_path) {
    std::vector<const pb::FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    for (const pb::FieldDescriptor* field : fields) {
      const std::string name = rule_path + field->name();
      if (decide(path + field->name(), name)) continue;
      if (field->is_map()) {
        visit_map(message, *field, path + field->name(), name);
      } else if (field->message_type() != nullptr) {
        visit_messages(message, *field, path + field->name(), name);
      }
    }
  }

 private:
  void visit_messages(const pb::Message& message, const pb::FieldDescriptor& field,
                      const std::string& path, const std::string& rule_path) {
    const pb::Reflection* reflection = message.GetReflection();
    if (!field.is_repeated()) {
      return visit(reflection->GetMessage(message, &field), path + ".", rule_path + ".");
    }
    for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
      visit(reflection->GetRepeatedMessage(message, &field, i), fmt::format("{}[{}].", path, i),
            rule_path + ".");
    }
  }

  void visit_map(const pb::Message& message, const pb::FieldDescriptor& field,
                 const std::string& path, const std::string& rule_path) {
    const pb::Reflection* reflection = message.GetReflection();
    for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
      const std::string key = map_key(reflection->GetRepeatedMessage(message, &field, i));
      decide(fmt::format("{}[{}]", path, key), rule_path + "." + key);
    }
  }

  // True when the walk ends here: the rule of exactly this field is not kHonoured.
  bool decide(const std::string& path, std::string_view rule_path) {
    const auto* rule = std::ranges::find(kRules, rule_path, &FieldRule::field);
    if (rule == std::end(kRules) || rule->field_class == kHonoured) return false;
    if (rule->field_class == kRefused) {
      problems_.add(path, std::string(rule->reason));
    } else {
      warnings_.push_back(fmt::format("{} has no effect: {}", path, rule->reason));
    }
    return true;
  }

  Problems& problems_;
  std::vector<std::string>& warnings_;
};

std::string_view class_name(FieldClass field_class) {
  switch (field_class) {
    case kHonoured:
      return "honoured";
    case kWarned:
      return "warning";
    case kRefused:
      break;
  }
  return "refused";
}

}  // namespace

std::span<const FieldRule> field_rules() { return kRules; }

const FieldRule* find_field_rule(std::string_view field) {
  while (true) {
    const auto* rule = std::ranges::find(kRules, field, &FieldRule::field);
    if (rule != std::end(kRules)) return rule;
    const std::size_t dot = field.rfind('.');
    if (dot == std::string_view::npos) return nullptr;
    field = field.substr(0, dot);
  }
}

void apply_field_rules(const inference::ModelConfig& message, Problems& problems,
                       std::vector<std::string>& warnings) {
  RuleWalk(problems, warnings).visit(message, "", "");
}

std::string field_rules_as_markdown() {
  std::string text = "| field | what happens | why |\n|---|---|---|\n";
  for (const FieldRule& rule : kRules) {
    text +=
        fmt::format("| `{}` | {} | {} |\n", rule.field, class_name(rule.field_class), rule.reason);
  }
  return text;
}

}  // namespace proa::config
