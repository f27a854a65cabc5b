#include "backends/python/status_page.h"

#include <cstring>

namespace proa::backends::python {

Result<std::shared_ptr<StatusPage>> StatusPage::create(SharedMemory& memory) {
  PROA_ASSIGN(Buffer buffer, memory.allocate_shared(kBytes));
  std::memset(buffer.data(), 0, kBytes);
  return std::shared_ptr<StatusPage>(new StatusPage(std::move(buffer)));
}

StatusPage::StatusPage(Buffer buffer) : buffer_(std::move(buffer)) {
  for (std::uint32_t slot = kSlots - 1; slot > 0; --slot) free_.push_back(slot);
}

std::uint64_t StatusPage::begun() const {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(buffer_.data()))
      .load(std::memory_order_acquire);
}

std::uint32_t StatusPage::take_slot() {
  MutexLock lock(mutex_);
  if (free_.empty()) return 0;
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

void StatusPage::give_back(std::uint32_t slot) {
  if (slot == 0) return;
  MutexLock lock(mutex_);
  free_.push_back(slot);
}

void StatusPage::go_on(std::uint32_t slot, std::uint64_t number) {
  if (slot == 0) return;
  auto paused = static_cast<std::uint32_t>(number);
  field(slot, 4).compare_exchange_strong(paused, 0, std::memory_order_release);
}

bool StatusPage::is_paused(std::uint32_t slot, std::uint64_t number) const {
  return slot != 0 &&
         field(slot, 4).load(std::memory_order_acquire) == static_cast<std::uint32_t>(number);
}

std::atomic_ref<std::uint32_t> StatusPage::field(std::uint32_t slot, std::size_t offset) const {
  std::byte* const at = buffer_.data() + 64 + std::size_t{8} * slot + offset;
  return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(at));
}

void StatusPage::write(std::uint32_t slot, std::size_t offset, std::uint64_t number) {
  if (slot == 0) return;
  field(slot, offset).store(static_cast<std::uint32_t>(number), std::memory_order_release);
}

}  // namespace proa::backends::python
