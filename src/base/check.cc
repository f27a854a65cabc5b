#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace proa::internal {

void check_failed(const char* file, int line, const char* condition, std::string_view why) {
  std::fprintf(stderr, "%s:%d: broken invariant `%s`: %.*s\n", file, line, condition,
               static_cast<int>(why.size()), why.data());
  std::abort();
}

}  // namespace proa::internal
