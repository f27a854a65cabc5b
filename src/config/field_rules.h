#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/given_fields.h"
#include "config/problems.h"

namespace inference {
class ModelConfig;
}

namespace proa::config {

// What becomes of a field of inference.ModelConfig.
enum class FieldClass {
  kHonoured,  // it does what Triton's documents say
  kWarned,    // accepted and left alone, with a warning: it only steers another product
  kRefused,   // an error: leaving it alone would change results
};

// The rule for `field` and everything below it that has no rule of its own.
struct FieldRule {
  std::string_view field;  // proto names, no numbers: "input.is_shape_tensor", "parameters.NAME"
  FieldClass field_class;
  std::string_view reason;  // kWarned, kRefused: why, and what to do; completes "FIELD: ..."
};

// The whole table, in the order of docs/configuration.md. It covers every field of the message.
std::span<const FieldRule> field_rules();

// The rule that holds for that path; null for a path that no field has.
const FieldRule* find_field_rule(std::string_view field);

// Applies the table to the fields that `message` sets to something else than their default: refused
// ones become problems, warned ones a line of `warnings` each.
void apply_field_rules(const inference::ModelConfig& message, Problems& problems,
                       std::vector<std::string>& warnings);

// The table as it stands in docs/configuration.md.
std::string field_rules_as_markdown();

}  // namespace proa::config
