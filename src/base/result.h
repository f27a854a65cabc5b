#pragma once

#include <expected>
#include <utility>

#include "base/error.h"

namespace proa {

// A value or an Error. Like std::expected, but dropping one is a compiler warning.
//   Result<Config> load(...);                       // returns a Config or error::not_found(...)
//   PROA_ASSIGN(Config config, load(path));         // returns the error to the caller
// Threading: a plain value.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
  Result(Error error) : std::expected<T, Error>(std::unexpect, std::move(error)) {}
};

template <>
class [[nodiscard]] Result<void> : public std::expected<void, Error> {
 public:
  using std::expected<void, Error>::expected;
  Result(Error error) : std::expected<void, Error>(std::unexpect, std::move(error)) {}
};

using Status = Result<void>;

}  // namespace proa

// Returns the Error of `expression` (a Status or Result) to the caller, if it is one.
#define PROA_TRY(expression)                                   \
  do {                                                         \
    auto&& proa_status_ = (expression);                        \
    if (!proa_status_) return std::move(proa_status_).error(); \
  } while (0)

#define PROA_CONCAT_INNER(a, b) a##b
#define PROA_CONCAT(a, b) PROA_CONCAT_INNER(a, b)

// PROA_ASSIGN(auto x, f()): x = value of f(), or returns its Error to the caller.
#define PROA_ASSIGN(target, expression) \
  PROA_ASSIGN_INNER(PROA_CONCAT(proa_result_, __LINE__), target, expression)
#define PROA_ASSIGN_INNER(result, target, expression) \
  auto result = (expression);                         \
  if (!result) return std::move(result).error();      \
  target = std::move(*result)
