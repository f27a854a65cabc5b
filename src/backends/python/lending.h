#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backends/python/channel.h"
#include "backends/python/wire.h"
#include "base/mutex.h"
#include "base/result.h"
#include "tensor/shared_memory.h"
#include "tensor/tensor.h"

namespace proa::backends::python {

// A message to a worker while it is written.
struct Draft {
  explicit Draft(Message kind) : kind(kind) {}

  const Message kind;
  std::uint32_t items = 0;
  WireWriter body;
  struct Loan {
    std::uint64_t id = 0;
    std::shared_ptr<const SharedBlock> block;
  };
  std::vector<Loan> loans;
  std::size_t inline_bytes = 0;
};

// A message from a worker, taken apart: nothing in it is believed that was not checked.
struct Incoming {
  explicit Incoming(std::span<const std::byte> message) : reader(message) {}

  MessageHead head;
  WireReader reader;                 // stands at the body
  std::vector<BufferView> returned;  // our blocks that came back; may hold tensors
  std::vector<Buffer> loans;         // the worker's blocks; given back when the last holder goes
};

// What travels between the server and one worker process without being copied: who holds which
// range of whose shared memory. A block that the server lends stays reserved until the worker gives
// the loan back, or dies.
//
// Life: one for each process; buffers from it may outlive it. Threading: thread-safe; a Draft and
// an Incoming belong to their thread.
class Lending {
 public:
  // `memory` is where requests' bodies come from, and where copies go.
  Lending(std::shared_ptr<SharedMemory> memory, std::shared_ptr<Channel> channel)
      : memory_(std::move(memory)), channel_(std::move(channel)) {}

  // Appends a tensor to the draft: small ones inline, others as a loan, after a copy if they are
  // not in shared memory yet. `name` for kByName. Errors: kResourceExhausted.
  Status put_tensor(Draft& draft, std::uint16_t index, std::string_view name, const Tensor& tensor)
      PROA_EXCLUDES(mutex_);
  // Sends it, with the loans of the worker's that nobody holds any more. Errors: kResourceExhausted
  // when it is large and there is no memory; its loans have ended then.
  Status send(Draft& draft) PROA_EXCLUDES(mutex_);
  // Ends the loans of a draft that is not sent.
  void abandon(const Draft& draft) PROA_EXCLUDES(mutex_);
  // A loan of a buffer of the pool, for what is no tensor.
  Status lend(Draft& draft, const Buffer& buffer) PROA_EXCLUDES(mutex_);

  // What the worker holds of our memory.
  std::size_t lent_bytes() const PROA_EXCLUDES(mutex_);

  // Takes a packet apart. Null when it was about blocks only.
  // Errors: kInternal for what a worker must not send.
  Result<std::unique_ptr<Incoming>> receive(Channel::Packet& packet) PROA_EXCLUDES(mutex_);
  // The next tensor of the message, and its index; its name for kByName. Bytes are copied where
  // they could change while somebody relies on them. Errors: kInternal.
  struct Named {
    std::uint16_t index = 0;
    std::string name;
    Tensor tensor;
  };
  static Result<Named> read_tensor(Incoming& message);

  static constexpr std::size_t kMostWorkerBlocks = 4096;

 private:
  // The worker's loans that have ended on our side and are to be given back.
  struct Returns {
    Mutex mutex;
    std::vector<std::uint64_t> loans PROA_GUARDED_BY(mutex);
  };
  struct Lent {
    Buffer buffer;
    std::size_t bytes = 0;
  };

  Result<std::uint32_t> lend(Draft& draft, const Buffer& buffer,
                             std::shared_ptr<const SharedBlock> block) PROA_EXCLUDES(mutex_);
  void introduce(const Draft& draft) PROA_EXCLUDES(mutex_);
  Result<std::vector<std::span<const std::byte>>> spill(Draft& draft, WireWriter& head);
  Status take_blocks(const MessageHead& head, WireReader& reader, Channel::Packet& packet)
      PROA_EXCLUDES(mutex_);
  Status take_tables(Incoming& incoming) PROA_EXCLUDES(mutex_);

  const std::shared_ptr<SharedMemory> memory_;
  const std::shared_ptr<Channel> channel_;
  const std::shared_ptr<Returns> returns_ = std::make_shared<Returns>();
  mutable Mutex mutex_;
  std::uint64_t last_loan_ PROA_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::uint64_t, Lent> lent_ PROA_GUARDED_BY(mutex_);  // by loan
  std::size_t lent_bytes_ PROA_GUARDED_BY(mutex_) = 0;
  // Our blocks that the worker has mapped, by id; gone: it is to forget them.
  std::unordered_map<std::uint64_t, std::weak_ptr<const SharedBlock>> introduced_
      PROA_GUARDED_BY(mutex_);
  std::uint64_t swept_ PROA_GUARDED_BY(mutex_) = 0;  // the pool's generation then
  // The worker's blocks, by its id.
  std::unordered_map<std::uint64_t, std::shared_ptr<const SharedBlock>> blocks_
      PROA_GUARDED_BY(mutex_);
  std::string spilled_;  // confined to the receiving thread
};

}  // namespace proa::backends::python
