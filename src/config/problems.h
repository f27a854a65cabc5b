#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/given_fields.h"

namespace proa::config {

// Everything that is wrong with one configuration, so that its author learns of all of it at once.
// Threading: confined to its owner.
class Problems {
 public:
  // `field` is a path as in GivenFields, "" for the file as a whole; `message` names the value, the
  // rule and the mend.
  void add(std::string field, std::string message, Position position = {}) {
    problems_.push_back({std::move(field), std::move(message), position});
  }

  bool empty() const { return problems_.empty(); }

  // kInvalidArgument with one line per problem, in the order of the file:
  // "FILE:LINE:COLUMN: FIELD: MESSAGE", the first kShown of them. Fine when there is no problem.
  static constexpr std::size_t kShown = 100;
  Status to_status(std::string_view file, const GivenFields& given) const;

 private:
  struct Problem {
    std::string field;
    std::string message;
    Position position;
  };
  std::vector<Problem> problems_;
};

}  // namespace proa::config
