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

void StatusPage::write(std::uint32_t slot, std::size_t offset, std::uint64_t number) {
  if (slot == 0) return;
  std::byte* const field = buffer_.data() + 64 + std::size_t{8} * slot + offset;
  std::atomic_ref(*reinterpret_cast<std::uint32_t*>(field))
      .store(static_cast<std::uint32_t>(number), std::memory_order_release);
}

}  // namespace proa::backends::python
