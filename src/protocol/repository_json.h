#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace proa::protocol {

// One member of `parameters` in the body of a repository request.
struct RepositoryParameter {
  std::string name;
  std::variant<bool, std::int64_t, std::string> value;
};

inline constexpr std::size_t kMaxRepositoryParameters = 4096;  // a model may have many files

// Reads {"parameters": {...}}, the body of a request to load or unload a model; an empty body has
// none. Other members of the body are passed over.
// Errors: kInvalidArgument with the place, for what is not JSON or not of these types.
Result<std::vector<RepositoryParameter>> read_repository_parameters(std::string_view body);

}  // namespace proa::protocol
