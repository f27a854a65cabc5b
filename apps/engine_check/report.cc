#include "report.h"

#include "fmt/core.h"

namespace proa::engine_check {

void Report::check(bool good, const std::string& what) {
  ++(good ? passed_ : failed_);
  if (!good) fmt::print("FAILED {}\n", what);
}

}  // namespace proa::engine_check
