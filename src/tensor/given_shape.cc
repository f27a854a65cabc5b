#include "tensor/given_shape.h"

#include <cstdint>

#include "base/text.h"

namespace proa {

Result<GivenShape> parse_given_shape(std::string_view argument) {
  const std::size_t colon = argument.rfind(':');
  const Error malformed = error::invalid_argument(
      "--shape {}: wanted NAME:DIMS, like --shape image:3,224,224", argument);
  if (colon == std::string_view::npos || colon == 0) return malformed;
  GivenShape given{std::string(argument.substr(0, colon)), {}};
  std::string_view rest = argument.substr(colon + 1);
  while (true) {
    const std::size_t comma = rest.find(',');
    const auto extent = parse_number<std::int64_t>(rest.substr(0, comma));
    if (!extent || *extent < 0) return malformed;
    given.shape.push_back(*extent);
    if (comma == std::string_view::npos) return given;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace proa
