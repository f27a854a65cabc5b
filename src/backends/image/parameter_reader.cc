#include "backends/image/parameter_reader.h"

#include <cmath>

#include "base/log.h"
#include "base/text.h"

namespace proa::backends {
namespace {

constexpr int kMostPixels = 16'384;  // of a side

std::optional<int> parse_side(std::string_view text) {
  const auto side = parse_number<int>(trim(text));
  return side && *side >= 1 && *side <= kMostPixels ? side : std::nullopt;
}

// "0.5" or "1/255".
std::optional<double> parse_ratio(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto value = parse_number<double>(trim(text.substr(0, slash)));
  if (!value || !std::isfinite(*value) || slash == std::string_view::npos) return value;
  const auto divisor = parse_number<double>(trim(text.substr(slash + 1)));
  if (!divisor || *divisor == 0) return std::nullopt;
  return *value / *divisor;
}

std::vector<std::string_view> split_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

const std::string* ParameterReader::find(std::string_view name) const {
  const auto found = parameters_.find(std::string(name));
  return found == parameters_.end() ? nullptr : &found->second;
}

Error ParameterReader::no_effect(std::string_view name, std::string_view reason) const {
  return error::invalid_argument("parameter '{}' is \"{}\", but has no effect: {}", name,
                                 log::printable(text(name)), reason);
}

Result<std::int64_t> ParameterReader::count(std::string_view name, std::int64_t otherwise,
                                            std::int64_t most) const {
  const std::string* const given = find(name);
  if (given == nullptr) return otherwise;
  const auto number = parse_number<std::int64_t>(*given);
  if (number && *number >= 1 && *number <= most) return *number;
  return bad_parameter(name, *given, fmt::format("a whole number from 1 to {}", most));
}

Result<std::optional<ParameterReader::Sides>> ParameterReader::sides(std::string_view name) const {
  const std::string* const given = find(name);
  if (given == nullptr || matches(*given, "none")) return std::nullopt;
  const std::string_view text = *given;
  const std::size_t by = text.find_first_of("xX");
  const auto width = parse_side(text.substr(0, by));
  const auto height = by == std::string_view::npos ? width : parse_side(text.substr(by + 1));
  if (width && height) return Sides{{*width, *height}, by == std::string_view::npos};
  return bad_parameter(
      name, text, fmt::format("pixels from 1 to {}: one number, or WIDTHxHEIGHT", kMostPixels));
}

Result<std::array<double, 3>> ParameterReader::channels(std::string_view name, double otherwise,
                                                        std::size_t channel_count) const {
  const std::string* const given = find(name);
  if (given == nullptr) return std::array{otherwise, otherwise, otherwise};
  std::vector<double> values;
  for (const std::string_view part : split_commas(*given)) {
    const auto value = parse_ratio(part);
    if (!value || !std::isfinite(*value)) {
      return bad_parameter(name, *given, "numbers like 0.5 or 1/255, separated by commas");
    }
    values.push_back(*value);
  }
  if (values.size() == 1) return std::array{values[0], values[0], values[0]};
  if (values.size() == 3 && channel_count == 3) return std::array{values[0], values[1], values[2]};
  return bad_parameter(name, *given,
                       channel_count == 3 ? "1 number, or 3: one for each channel"
                                          : "1 number: the tensor has 1 channel");
}

bool ParameterReader::matches(std::string_view given, std::string_view word) {
  return lower_case(given) == lower_case(word);
}

std::string ParameterReader::one_of(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace proa::backends
