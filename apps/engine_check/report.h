#pragma once

#include <string>

namespace proa::engine_check {

// Counts checks and prints one line for each that fails.
class Report {
 public:
  void check(bool good, const std::string& what);
  int failed() const { return failed_; }
  int passed() const { return passed_; }

 private:
  int failed_ = 0;
  int passed_ = 0;
};

// Seconds, of a clock that only goes forward.
double now();

}  // namespace proa::engine_check
