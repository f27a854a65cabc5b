#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "tensor/shared_memory.h"

namespace proa::backends::python {

// A page that the server and one worker look into without messages:
//   begun:u64                  the last batch that the worker has begun (its `first`)
//   64 + 8 * slot              cancelled:u32 paused:u32: numbers of requests (their lower half)
// A request that was cancelled, or whose client takes no more for now, has its number in its slot.
// Slot 0 is everybody's for whom there is none left, and stays empty.
//
// Life: by shared_ptr; callbacks of requests hold it. Threading: thread-safe.
class StatusPage {
 public:
  static constexpr std::size_t kSlots = 2000;
  static constexpr std::size_t kBytes = 64 + 8 * kSlots;

  // Errors: kResourceExhausted.
  static Result<std::shared_ptr<StatusPage>> create(SharedMemory& memory);

  const Buffer& buffer() const { return buffer_; }
  std::uint64_t begun() const;

  std::uint32_t take_slot() PROA_EXCLUDES(mutex_);
  void give_back(std::uint32_t slot) PROA_EXCLUDES(mutex_);
  void cancel(std::uint32_t slot, std::uint64_t number) { write(slot, 0, number); }
  void pause(std::uint32_t slot, std::uint64_t number) { write(slot, 4, number); }
  // Nothing happens when another request has the slot by now.
  void go_on(std::uint32_t slot, std::uint64_t number);
  bool is_paused(std::uint32_t slot, std::uint64_t number) const;

 private:
  explicit StatusPage(Buffer buffer);
  std::atomic_ref<std::uint32_t> field(std::uint32_t slot, std::size_t offset) const;
  void write(std::uint32_t slot, std::size_t offset, std::uint64_t number);

  const Buffer buffer_;
  Mutex mutex_;
  std::vector<std::uint32_t> free_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::backends::python
