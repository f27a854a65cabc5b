#include "engine/emulator/emulator.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <typeinfo>
#include <utility>
#include <vector>

#include "base/check.h"
#include "cuda_runtime.h"

namespace proa::engine::emulator {
namespace {

constexpr std::size_t kStackBytes = 256 << 10;

enum class State : std::uint8_t {
  kReady,
  kWaitsForWarp,
  kWaitsForBlock,
  kWaitsForCluster,
  kWaitsForKernel,
  kEnded
};

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
  std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
  State state = State::kEnded;
  unsigned exchanges = 0;  // with its warp, so far
  unsigned meeting = 0;    // of the cluster, at which it has arrived
  std::vector<Copy> sent;
  std::deque<std::vector<Copy>> groups;
};

struct Warp {
  // Of this exchange and of the next, which some lanes begin before others have read this one's.
  std::vector<std::byte> parts[2];
  int arrived = 0;
  const std::type_info* work = nullptr;  // of the lanes that have arrived
};

// A block under way.
struct Block {
  std::vector<Thread> threads;  // kept for their stacks
  std::vector<Warp> warps;
  Index index;
  unsigned size = 0, running = 0;
  unsigned live = 0, at_barrier = 0;
  std::unique_ptr<GuardedMemory> shared;
};

// The blocks that run together, and what they run.
struct Cluster {
  std::vector<std::unique_ptr<Block>> blocks;
  Block* current = nullptr;
  unsigned threads = 0, live = 0, at_wait = 0;  // of all blocks
  unsigned meetings = 0, arrived = 0;
  bool front_ended = false;  // the kernel in front
  std::vector<const GuardedMemory*> forbidden;
  const std::function<void()>* body = nullptr;
  Place scheduler;
};

Cluster& cluster() {
  static Cluster instance;
  return instance;
}
Block& block() { return *cluster().current; }

// Goes on at `to`; comes back when somebody goes on at `from`.
void change(Place& from, Place& to) {
  if (__builtin_setjmp(from.registers) != 0) return;
  if (!std::exchange(to.started, true)) setcontext(&to.start);
  __builtin_longjmp(to.registers, 1);
}

void leave() {
  Block& b = block();
  change(b.threads[b.running].place, cluster().scheduler);
}

void release(Block& b, State waiting) {
  for (unsigned i = 0; i < b.size; ++i) {
    if (b.threads[i].state == waiting) b.threads[i].state = State::kReady;
  }
}
void release_all(State waiting) {
  for (const auto& each : cluster().blocks) release(*each, waiting);
}

void forbid(bool forbidden) {
  for (const GuardedMemory* memory : cluster().forbidden) memory->forbid(forbidden);
}

// Those that have ended are waited for no longer.
void release_complete() {
  Block& b = block();
  Cluster& c = cluster();
  if (b.at_barrier > 0 && b.at_barrier == b.live) {
    b.at_barrier = 0;
    release(b, State::kWaitsForBlock);
  }
  if (!c.front_ended && c.at_wait == c.live) {
    c.front_ended = true;
    forbid(false);
    release_all(State::kWaitsForKernel);
  }
}

void wait_as(State state) {
  block().threads[block().running].state = state;
  release_complete();
  leave();
}

void run_thread() {
  (*cluster().body)();
  Block& b = block();
  b.threads[b.running].state = State::kEnded;
  --b.live;
  --cluster().live;
  release_complete();
  __builtin_longjmp(cluster().scheduler.registers, 1);
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
  thread.meeting = 0;
  thread.sent.clear();
  thread.groups.clear();
}

// Runs threads of the current block from `first` on for as long as one of them can go on: false
// when none could.
bool run_warp(unsigned first) {
  Block& b = block();
  const unsigned end = std::min(first + kWarp, b.size);
  bool any = false;
  for (bool more = true; more; any |= more) {
    more = false;
    for (unsigned i = first; i < end; ++i) {
      if (b.threads[i].state != State::kReady) continue;
      more = true;
      b.running = i;
      threadIdx = {i, 0, 0};
      change(cluster().scheduler, b.threads[i].place);
    }
  }
  return any;
}

void prepare(Block& b, Index index, unsigned size, std::size_t shared_bytes) {
  b.index = index;
  b.size = b.live = size;
  b.at_barrier = 0;
  if (b.threads.size() < size) b.threads.resize(size);
  b.warps.resize((size + kWarp - 1) / kWarp);
  for (unsigned i = 0; i < size; ++i) prepare(b.threads[i]);
  for (Warp& warp : b.warps) warp.arrived = 0;
  std::memset(b.shared->data(), 0xff, shared_bytes);
}

// Runs a block for as long as one of its warps can go on: false when none could.
bool run_block(Block& b) {
  cluster().current = &b;
  blockIdx = {b.index.x, b.index.y, b.index.z};
  const bool backwards = (b.index.x + b.index.y) % 2 == 1;
  const auto warps = static_cast<unsigned>(b.warps.size());
  bool any = false;
  for (unsigned i = 0; i < warps; ++i) {
    any |= run_warp((backwards ? warps - 1 - i : i) * kWarp);
  }
  return any;
}

void run_cluster() {
  Cluster& c = cluster();
  c.live = 0;
  for (const auto& each : c.blocks) c.live += each->live;
  c.threads = c.live;
  c.at_wait = c.meetings = c.arrived = 0;
  c.front_ended = false;
  forbid(true);
  while (c.live > 0) {
    bool any = false;
    for (const auto& each : c.blocks) any |= run_block(*each);
    PROA_CHECK(any, "threads of a block wait for others that never come");
  }
  forbid(false);
}

}  // namespace

GuardedMemory::GuardedMemory(std::size_t size, std::size_t alignment)
    : size_(size), page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
  const std::size_t taken = (size + alignment - 1) / alignment * alignment;
  usable_ = (taken + page_ - 1) / page_ * page_;
  void* start =
      ::mmap(nullptr, usable_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  PROA_CHECK(start != MAP_FAILED, "out of memory");
  start_ = static_cast<std::byte*>(start);
  PROA_CHECK(::mprotect(start_ + usable_, page_, PROT_NONE) == 0, "a page can be forbidden");
  data_ = start_ + usable_ - taken;
}

GuardedMemory::~GuardedMemory() { ::munmap(start_, usable_ + page_); }

void GuardedMemory::forbid(bool forbidden) const {
  const int allowed = forbidden ? PROT_NONE : PROT_READ | PROT_WRITE;
  PROA_CHECK(usable_ == 0 || ::mprotect(start_, usable_, allowed) == 0, "pages can be forbidden");
}

void forbid_before_wait(std::vector<const GuardedMemory*> memory) {
  cluster().forbidden = std::move(memory);
}

void run_grid(Index grid, unsigned size_of_cluster, unsigned size, std::size_t shared_bytes,
              const std::function<void()>& thread) {
  Cluster& c = cluster();
  c.body = &thread;
  c.blocks.resize(size_of_cluster);
  for (auto& each : c.blocks) {
    if (each == nullptr) each = std::make_unique<Block>();
    each->shared = std::make_unique<GuardedMemory>(shared_bytes, 128);
  }
  gridDim = {grid.x, grid.y, grid.z};
  blockDim = {size, 1, 1};
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; x += size_of_cluster) {
        for (unsigned i = 0; i < size_of_cluster; ++i) {
          prepare(*c.blocks[i], {x + i, y, z}, size, shared_bytes);
        }
        run_cluster();
      }
    }
  }
}

std::byte* shared_memory() { return block().shared->data(); }
std::byte* shared_memory_of(unsigned rank) {
  const Cluster& c = cluster();
  PROA_CHECK(rank < c.blocks.size(), "the block is one of the cluster's");
  if (c.blocks[rank].get() != c.current) {
    PROA_CHECK(c.meetings > 0, "all blocks of a cluster are known to have begun");
    PROA_CHECK(c.blocks[rank]->live > 0, "a block that is written to has not ended");
  }
  return cluster().blocks[rank]->shared->data();
}

void wait_for_block() {
  ++block().at_barrier;
  wait_as(State::kWaitsForBlock);
}

void arrive_at_cluster() {
  Cluster& c = cluster();
  unsigned& meeting = block().threads[block().running].meeting;
  PROA_CHECK(meeting <= c.meetings, "a thread that has arrived at its cluster waits first");
  meeting = c.meetings + 1;
  if (++c.arrived < c.threads) return;
  c.arrived = 0;
  ++c.meetings;
  release_all(State::kWaitsForCluster);
}

void wait_for_cluster() {
  const unsigned meeting = block().threads[block().running].meeting;
  PROA_CHECK(meeting > 0, "a thread that waits for its cluster has arrived");
  if (meeting > cluster().meetings) wait_as(State::kWaitsForCluster);
}

void wait_for_previous_kernel() {
  Cluster& c = cluster();
  if (c.front_ended || c.forbidden.empty()) return;
  ++c.at_wait;
  wait_as(State::kWaitsForKernel);
}

void with_warp(void* part, std::size_t bytes, const std::function<void(std::byte* parts)>& work) {
  Block& b = block();
  Warp& warp = b.warps[b.running / kWarp];
  std::vector<std::byte>& parts = warp.parts[b.threads[b.running].exchanges++ % 2];
  if (parts.size() < bytes * kWarp) parts.resize(bytes * kWarp);
  std::byte* own = parts.data() + b.running % kWarp * bytes;
  std::memcpy(own, part, bytes);
  if (warp.arrived == 0) warp.work = &work.target_type();
  PROA_CHECK(*warp.work == work.target_type(), "the lanes of a warp do different things together");
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
  const auto misplaced = [bytes](const void* at) {
    return reinterpret_cast<std::uintptr_t>(at) % bytes != 0;
  };
  const std::byte* shared = shared_memory();
  PROA_CHECK((bytes == 4 || bytes == 8 || bytes == 16) && !misplaced(to) && !misplaced(from),
             "asynchronous copies are of 4, 8 or 16 bytes and as aligned");
  PROA_CHECK(to >= shared && to < shared + block().shared->size(),
             "asynchronous copies go to shared memory");
  std::memset(to, 0xff, bytes);
  // It may read from now on, so what it reads must not be forbidden.
  if (bytes > zeros) (void)*static_cast<const volatile std::byte*>(from);
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
