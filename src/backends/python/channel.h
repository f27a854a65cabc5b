#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/owned_fd.h"
#include "base/result.h"
#include "base/timer.h"
#include "tensor/shared_memory.h"

namespace proa::backends::python {

// The server's end of the socket to one worker process: whole packets, with descriptors.
// Life: by shared_ptr. Threading: send() by any thread, receive() by one.
class Channel : public std::enable_shared_from_this<Channel> {
 public:
  struct Pair {
    std::shared_ptr<Channel> ours;
    OwnedFd theirs;
  };
  // `timer` must outlive the channel's packets. Errors: kResourceExhausted.
  static Result<Pair> create(Timer& timer);

  // Blocks whose descriptors a packet carries: at most kMostBlocksPerPacket.
  using Blocks = std::vector<std::shared_ptr<const SharedBlock>>;

  // Sends the parts as one packet, in order with the others, without waiting: what the socket does
  // not take now is sent later. A worker that is gone gets nothing; receive() tells that.
  void send(std::span<const std::span<const std::byte>> parts, Blocks blocks = {})
      PROA_EXCLUDES(mutex_);

  enum class Event : std::uint8_t { kPacket, kNothing, kClosed };
  struct Packet {
    std::span<const std::byte> bytes;  // until the next receive()
    std::vector<OwnedFd> descriptors;
    bool cut = false;  // it was larger than any may be
  };
  // Waits for a packet, for half a second at most (kNothing).
  Event receive(Packet& packet);

 private:
  struct Waiting {
    std::string bytes;
    Blocks blocks;
  };

  Channel(OwnedFd socket, Timer& timer);
  // False when the socket is full. Packets that cannot be sent at all count as sent.
  bool try_send(std::span<iovec> parts, const Blocks& blocks);
  void flush() PROA_EXCLUDES(mutex_);
  void flush_later();

  const OwnedFd socket_;
  Timer& timer_;
  std::vector<std::byte> received_;
  Mutex mutex_;
  std::deque<Waiting> waiting_ PROA_GUARDED_BY(mutex_);
  bool flushing_ PROA_GUARDED_BY(mutex_) = false;  // somebody sends; others only add
};

}  // namespace proa::backends::python
