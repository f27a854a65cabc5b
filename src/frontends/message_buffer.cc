#include "frontends/message_buffer.h"

#include <algorithm>
#include <cstring>

#include "frontends/options.h"

namespace proa::frontends {

void MessageBuffer::start(std::optional<std::size_t> announced, std::size_t at_once) {
  announced_ = announced;
  at_once_ = at_once;
  block_ = Buffer();
  size_ = overhead_ = 0;
  reservation_ = core::MemoryBudget::Reservation();
}

Status MessageBuffer::charge(std::size_t overhead) {
  auto share = budget_->try_reserve(overhead);
  if (!share) return over_budget(*budget_, overhead);
  reservation_.merge(std::move(*share));
  overhead_ = overhead;
  return {};
}

Result<std::span<std::byte>> MessageBuffer::room(std::size_t wanted) {
  if (size_ == block_.size()) PROA_TRY(grow(size_ + 1));
  const std::size_t bytes = std::min(wanted, block_.size() - size_);
  PROA_TRY(reserve(size_ + bytes));
  return block_.bytes().subspan(size_, bytes);
}

Status MessageBuffer::append(std::span<const std::byte> data) {
  if (data.empty()) return {};
  const std::size_t needed = size_ + data.size();
  PROA_TRY(reserve(needed));
  if (needed > block_.size()) PROA_TRY(grow(needed));
  std::memcpy(block_.data() + size_, data.data(), data.size());
  size_ = needed;
  return {};
}

BufferView MessageBuffer::take() {
  return BufferView(std::move(block_), 0, std::exchange(size_, 0));
}

Status MessageBuffer::grow(std::size_t needed) {
  std::size_t capacity = std::max(needed * 2, kSmall);
  if (announced_) {
    capacity = std::min(*announced_, std::max(needed * kTrust, at_once_));
    capacity = std::max(capacity, needed);
  }
  PROA_TRY(reserve(needed));
  Buffer larger = pool_->allocate(capacity);
  if (size_ > 0) std::memcpy(larger.data(), block_.data(), size_);
  block_ = std::move(larger);
  return {};
}

Status MessageBuffer::reserve(std::size_t needed) {
  const std::size_t reserved = reservation_.bytes() - overhead_;
  if (needed <= reserved) return {};
  // Whole messages in one step where that is cheap, doubling otherwise.
  std::size_t wanted = std::max(needed * 2, kSmall);
  if (announced_) wanted = std::max(needed, std::min(wanted, *announced_));
  auto more = budget_->try_reserve(wanted - reserved);
  if (!more) return over_budget(*budget_, wanted);
  reservation_.merge(std::move(*more));
  return {};
}

}  // namespace proa::frontends
