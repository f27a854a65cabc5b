#pragma once

#include <string_view>

namespace proa::internal {
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               std::string_view why);
}

// Ends the process when an invariant of our own code is broken, in every build type. What comes
// from the wire, from files or from devices is never checked with this: it gets a Result.
#define PROA_CHECK(condition, why)                                           \
  do {                                                                       \
    if (!(condition)) [[unlikely]]                                           \
      ::proa::internal::check_failed(__FILE__, __LINE__, #condition, (why)); \
  } while (0)
