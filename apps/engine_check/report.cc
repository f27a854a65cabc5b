#include "report.h"

#include <chrono>

#include "fmt/core.h"

namespace proa::engine_check {

void Report::check(bool good, const std::string& what) {
  ++(good ? passed_ : failed_);
  if (!good) fmt::print("FAILED {}\n", what);
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace proa::engine_check
