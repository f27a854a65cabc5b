#include "engine/emulator/emulator.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "base/check.h"
#include "cuda_runtime.h"

namespace proa::engine::emulator {
namespace {

constexpr std::size_t kStackBytes = 256 << 10;

enum class State : std::uint8_t { kReady, kWaitsForWarp, kWaitsForBlock, kEnded };

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes, zeros;
};

// Where a fiber, or who runs them, goes on. Only a start needs a whole context: changing that asks
// the kernel for the signal mask each time.
struct Place {
  ucontext_t start{};
  bool started = true;
  void* registers[5] = {};
};

struct Thread {
  Place place;
  std::unique_ptr<char[]> stack = std::make_unique<char[]>(kStackBytes);
  State state = State::kEnded;
  unsigned exchanges = 0;  // with its warp, so far
  std::vector<Copy> sent;
  std::deque<std::vector<Copy>> groups;
};

struct Warp {
  // Of this exchange and of the next, which some lanes begin before others have read this one's.
  std::vector<std::byte> parts[2];
  int arrived = 0;
};

// A block under way.
struct Block {
  std::vector<Thread> threads;  // kept for their stacks
  std::vector<Warp> warps;
  unsigned size = 0, running = 0;
  unsigned live = 0, at_barrier = 0;
  const std::function<void()>* body = nullptr;
  Place scheduler;
  std::unique_ptr<GuardedMemory> shared;
};

Block& block() {
  static Block instance;
  return instance;
}

// Goes on at `to`; comes back when somebody goes on at `from`.
void change(Place& from, Place& to) {
  if (__builtin_setjmp(from.registers) != 0) return;
  if (!std::exchange(to.started, true)) setcontext(&to.start);
  __builtin_longjmp(to.registers, 1);
}

void leave() {
  Block& b = block();
  change(b.threads[b.running].place, b.scheduler);
}

void release_block() {
  Block& b = block();
  if (b.at_barrier < b.live || b.live == 0) return;
  b.at_barrier = 0;
  for (unsigned i = 0; i < b.size; ++i) {
    if (b.threads[i].state == State::kWaitsForBlock) b.threads[i].state = State::kReady;
  }
}

void run_thread() {
  Block& b = block();
  (*b.body)();
  Thread& self = b.threads[b.running];
  self.state = State::kEnded;
  --b.live;
  release_block();  // those that have ended are waited for no longer
  __builtin_longjmp(b.scheduler.registers, 1);
}

void prepare(Thread& thread) {
  ucontext_t& start = thread.place.start;
  getcontext(&start);
  start.uc_stack.ss_sp = thread.stack.get();
  start.uc_stack.ss_size = kStackBytes;
  makecontext(&start, run_thread, 0);
  thread.place.started = false;
  thread.state = State::kReady;
  thread.exchanges = 0;
  thread.sent.clear();
  thread.groups.clear();
}

void run_block() {
  Block& b = block();
  for (unsigned i = 0; i < b.size; ++i) prepare(b.threads[i]);
  for (Warp& warp : b.warps) warp.arrived = 0;
  b.live = b.size;
  b.at_barrier = 0;
  while (b.live > 0) {
    bool any = false;
    for (unsigned i = 0; i < b.size; ++i) {
      Thread& thread = b.threads[i];
      if (thread.state != State::kReady) continue;
      any = true;
      b.running = i;
      threadIdx = {i, 0, 0};
      change(b.scheduler, thread.place);
    }
    PROA_CHECK(any, "threads of a block wait for others that never come");
  }
}

}  // namespace

GuardedMemory::GuardedMemory(std::size_t size, std::size_t alignment) : size_(size) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t taken = (size + alignment - 1) / alignment * alignment;
  const std::size_t usable = (taken + page - 1) / page * page;
  mapped_ = usable + page;
  void* start =
      ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  PROA_CHECK(start != MAP_FAILED, "out of memory");
  start_ = static_cast<std::byte*>(start);
  PROA_CHECK(::mprotect(start_ + usable, page, PROT_NONE) == 0, "a page can be forbidden");
  data_ = start_ + usable - taken;
}

GuardedMemory::~GuardedMemory() { ::munmap(start_, mapped_); }

void run_grid(Index grid, unsigned size, std::size_t shared_bytes,
              const std::function<void()>& thread) {
  Block& b = block();
  b.body = &thread;
  b.shared = std::make_unique<GuardedMemory>(shared_bytes, 128);
  b.size = size;
  if (b.threads.size() < size) b.threads.resize(size);
  b.warps.resize((size + kWarp - 1) / kWarp);
  gridDim = {grid.x, grid.y, grid.z};
  blockDim = {size, 1, 1};
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        std::memset(b.shared->data(), 0xff, shared_bytes);
        run_block();
      }
    }
  }
}

unsigned char* shared_memory() { return reinterpret_cast<unsigned char*>(block().shared->data()); }

int lane() { return static_cast<int>(block().running % kWarp); }

void wait_for_block() {
  Block& b = block();
  b.threads[b.running].state = State::kWaitsForBlock;
  ++b.at_barrier;
  release_block();
  leave();
}

void with_warp(void* part, std::size_t bytes, const std::function<void(std::byte* parts)>& work) {
  Block& b = block();
  Warp& warp = b.warps[b.running / kWarp];
  std::vector<std::byte>& parts = warp.parts[b.threads[b.running].exchanges++ % 2];
  if (parts.size() < bytes * kWarp) parts.resize(bytes * kWarp);
  std::byte* own = parts.data() + static_cast<std::size_t>(lane()) * bytes;
  std::memcpy(own, part, bytes);
  if (++warp.arrived < kWarp) {
    b.threads[b.running].state = State::kWaitsForWarp;
    leave();
  } else {
    warp.arrived = 0;
    work(parts.data());
    const unsigned first = b.running / kWarp * kWarp;
    for (unsigned i = first; i < first + kWarp; ++i) b.threads[i].state = State::kReady;
  }
  std::memcpy(part, own, bytes);
}

void send_async(void* to, const void* from, std::size_t bytes, std::size_t zeros) {
  std::memset(to, 0xff, bytes);
  block().threads[block().running].sent.push_back({to, from, bytes, zeros});
}

void commit_async() {
  Thread& self = block().threads[block().running];
  self.groups.push_back(std::exchange(self.sent, {}));
}

void wait_async(std::size_t groups_left) {
  Thread& self = block().threads[block().running];
  for (; self.groups.size() > groups_left; self.groups.pop_front()) {
    for (const Copy& copy : self.groups.front()) {
      const std::size_t read = copy.bytes - copy.zeros;
      if (read > 0) std::memcpy(copy.to, copy.from, read);
      std::memset(static_cast<std::byte*>(copy.to) + read, 0, copy.zeros);
    }
  }
}

}  // namespace proa::engine::emulator
