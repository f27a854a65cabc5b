#include "config/problems.h"

#include <algorithm>
#include <tuple>

namespace proa::config {

Status Problems::to_status(std::string_view file, const GivenFields& given) const {
  if (problems_.empty()) return {};
  std::vector<Problem> sorted = problems_;
  for (Problem& problem : sorted) {
    if (problem.position.line == 0) problem.position = given.find(problem.field);
  }
  std::ranges::stable_sort(sorted, {}, [](const Problem& problem) {
    return std::tuple(problem.position.line, problem.position.column);
  });
  const std::size_t more = sorted.size() - std::min(sorted.size(), kShown);
  sorted.resize(sorted.size() - more);
  std::string text;
  for (const Problem& problem : sorted) {
    if (!text.empty()) text += '\n';
    text += file;
    if (problem.position.line > 0) {
      text += fmt::format(":{}:{}", problem.position.line, problem.position.column);
    }
    if (!problem.field.empty()) text += fmt::format(": {}", problem.field);
    text += fmt::format(": {}", problem.message);
  }
  if (more > 0) text += fmt::format("\n{}: and {} more problems", file, more);
  return Error{ErrorCode::kInvalidArgument, std::move(text)};
}

}  // namespace proa::config
