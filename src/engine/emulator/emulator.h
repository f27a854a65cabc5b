#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace proa::engine::emulator {

// A GPU for tests: runs the engine's own kernels (cuda/kernels/*.cu, compiled as C++ against the
// headers in include/) on the CPU. Clusters of blocks run one after another; threads are fibers.
// Each warp runs as far as it can before another does, the first or the last one first by turns, so
// that a missing barrier shows. So the kernels' arithmetic, addresses and barriers are tested
// without a GPU. It has no time, no races between blocks, and knows only what our kernels use.
// Threading: one kernel at a time in the process.

inline constexpr std::size_t kSharedBytes = 227 << 10;  // that a block may take
inline constexpr int kWarp = 32;

// Memory that ends (but for the alignment) where touching one byte more ends the process.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t size, std::size_t alignment = 16);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  void forbid(bool forbidden) const;

 private:
  std::size_t size_, usable_, page_;
  std::byte *start_, *data_;
};

struct Index {
  unsigned x = 1, y = 1, z = 1;
};

// Runs `thread` for every thread of the grid, `cluster` blocks side by side in x together. Dynamic
// shared memory of that size begins as NaNs. Ends the process when threads wait for ever (a barrier
// that some of them do not reach).
void run_grid(Index grid, unsigned cluster, unsigned block, std::size_t shared_bytes,
              const std::function<void()>& thread);

// Until all threads of a block have waited for the kernel in front, that memory may not be touched:
// what the kernel in front still makes or reads. They wait for each other there, which may hide a
// barrier that is missing; without such memory they do not. It must stay until the next call.
void forbid_before_wait(std::vector<const GuardedMemory*> memory);

// For the running thread.
std::byte* shared_memory();
std::byte* shared_memory_of(unsigned rank);  // another block of the cluster
void wait_for_block();
// Of all threads of a cluster, in two steps.
void arrive_at_cluster();
void wait_for_cluster();
void wait_for_previous_kernel();

// Every lane of a warp gives its part; when all have come, `work` is called once with those of all
// (`bytes` apart) and fills in their answers, in place. All must give the same `work`.
void with_warp(void* part, std::size_t bytes, const std::function<void(std::byte* parts)>& work);

// Copies to shared memory that are on their way: they arrive at the wait of the thread that sent
// them, and until then the place holds NaNs.
void send_async(void* to, const void* from, std::size_t bytes, std::size_t zeros);
void commit_async();
void wait_async(std::size_t groups_left);

}  // namespace proa::engine::emulator
