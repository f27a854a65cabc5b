#include "frontends/options.h"

#include <utility>

namespace proa::frontends {

Error over_budget(const core::MemoryBudget& budget, std::size_t bytes) {
  return error::unavailable(
      "no memory for a message of {} bytes or more: requests in flight hold {} of {} bytes; send "
      "again later, or raise {}",
      bytes, budget.used(), budget.limit(), kMemoryBudgetFlag);
}

Result<core::MemoryBudget::Reservation> reserve_answer(core::MemoryBudget& budget,
                                                       std::size_t bytes) {
  constexpr std::size_t kSmall = 4096;
  if (bytes <= kSmall) return budget.reserve(bytes);
  auto share = budget.try_reserve(bytes);
  if (!share) return over_budget(budget, bytes);
  return std::move(*share);
}

}  // namespace proa::frontends
