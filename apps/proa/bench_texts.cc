#include "bench_texts.h"

#include <cmath>
#include <vector>

#include "base/text.h"

namespace proa {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace

Result<NumberRange> parse_range(std::string_view flag, std::string_view text) {
  const auto parts = split(text, ':');
  std::vector<double> numbers;
  for (const std::string_view part : parts) {
    const auto number = parse_number<double>(part);
    if (!number || !std::isfinite(*number) || parts.size() > 3) {
      return error::invalid_argument("{} {}: wanted START, START:END or START:END:STEP", flag,
                                     text);
    }
    numbers.push_back(*number);
  }
  NumberRange range{numbers[0], numbers[0], 1};
  if (numbers.size() > 1) range.end = numbers[1];
  if (numbers.size() > 2) range.step = numbers[2];
  return range;
}

Result<WeightedModel> parse_weighted_model(std::string_view text) {
  const auto equals = text.rfind('=');
  if (equals == std::string_view::npos) return WeightedModel{std::string(text), 1};
  const auto weight = parse_number<double>(text.substr(equals + 1));
  if (equals == 0 || !weight || !(*weight > 0) || !std::isfinite(*weight)) {
    return error::invalid_argument("-m {}: wanted NAME or NAME=WEIGHT, a weight above 0", text);
  }
  return WeightedModel{std::string(text.substr(0, equals)), *weight};
}

Result<Parameter> parse_request_parameter(std::string_view text) {
  const auto bad = [&] {
    return error::invalid_argument(
        "--request-parameter {}: wanted NAME:VALUE:TYPE, of type string, bool, int, uint or double",
        text);
  };
  const auto first = text.find(':');
  const auto last = text.rfind(':');
  if (first == std::string_view::npos || first == last || first == 0) return bad();
  const std::string_view value = text.substr(first + 1, last - first - 1);
  const std::string_view type = text.substr(last + 1);
  Parameter parameter{std::string(text.substr(0, first)), std::string(value)};
  if (type == "string") return parameter;
  if (type == "bool" && (value == "true" || value == "false")) {
    parameter.value = value == "true";
    return parameter;
  }
  if (const auto number = parse_number<std::int64_t>(value); number && type == "int") {
    parameter.value = *number;
  } else if (const auto natural = parse_number<std::uint64_t>(value); natural && type == "uint") {
    parameter.value = *natural;
  } else if (const auto real = parse_number<double>(value); real && type == "double") {
    parameter.value = *real;
  } else {
    return bad();
  }
  return parameter;
}

Result<loadgen::SequenceIds> parse_sequence_ids(std::string_view text) {
  if (text.empty()) return loadgen::SequenceIds{};
  const auto parts = split(text, ':');
  const auto first = parse_number<std::uint64_t>(parts[0]);
  std::optional<std::uint64_t> end = 0;  // none
  if (parts.size() > 1) end = parse_number<std::uint64_t>(parts[1]);
  const bool in_order = first && *first > 0 && end && (parts.size() == 1 || *end > *first);
  if (parts.size() > 2 || !in_order) {
    return error::invalid_argument(
        "--sequence-id-range {}: wanted START or START:END, from 1, END above START (and no id)",
        text);
  }
  return loadgen::SequenceIds{*first, *end};
}

}  // namespace proa
