#include "frontends/options.h"

namespace proa::frontends {

Error over_budget(const core::MemoryBudget& budget, std::size_t bytes) {
  return error::unavailable(
      "no memory for a message of {} bytes or more: requests in flight hold {} of {} bytes; send "
      "again later, or raise {}",
      bytes, budget.used(), budget.limit(), kMemoryBudgetFlag);
}

}  // namespace proa::frontends
