#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace proa {

// A named value that travels with a request, a tensor or a response (KServe v2 "parameters").
struct Parameter {
  using Value = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;
  std::string name;
  Value value;
};

// Few, in the order they came; names are unique.
using Parameters = std::vector<Parameter>;

// The value of `name`; null when absent.
inline const Parameter::Value* find_parameter(const Parameters& parameters, std::string_view name) {
  for (const Parameter& parameter : parameters) {
    if (parameter.name == name) return &parameter.value;
  }
  return nullptr;
}

}  // namespace proa
