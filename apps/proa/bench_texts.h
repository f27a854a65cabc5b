#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/parameter.h"
#include "base/result.h"
#include "loadgen/schedules/picker.h"

namespace proa {

// Flags of `proa bench` whose text has a form of its own. Errors: kInvalidArgument quoting it.

// "1:8:2": start, end, step; the end is the start and the step 1 where they are left out.
struct NumberRange {
  double start = 1;
  double end = 1;
  double step = 1;
};
Result<NumberRange> parse_range(std::string_view flag, std::string_view text);

// "detector=3": a name and a weight above 0 (1).
struct WeightedModel {
  std::string name;
  double weight = 1;
};
Result<WeightedModel> parse_weighted_model(std::string_view text);

// "name:value:type"
Result<Parameter> parse_request_parameter(std::string_view text);

// "START[:END]" of --sequence-id-range; from 1 without end for "".
Result<loadgen::SequenceIds> parse_sequence_ids(std::string_view text);

}  // namespace proa
