#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/result.h"
#include "frontends/message_buffer.h"

namespace proa::frontends {

// Cuts the body of a gRPC call into messages: one byte "compressed", four bytes of length (big
// endian), the bytes; they may come in pieces of any size.
//
//   while (!data.empty()) {
//     PROA_ASSIGN(std::size_t used, reader.read(data));
//     data = data.subspan(used);
//     if (reader.complete()) handle(reader.take());
//   }
//
// Threading: confined to its call. Source: gRPC over HTTP/2, "Length-Prefixed-Message".
class MessageReader {
 public:
  struct Message {
    BufferView bytes;
    bool compressed = false;
    core::MemoryBudget::Reservation memory;
  };

  MessageReader(MemoryPool& pool, core::MemoryBudget& budget, std::size_t max_message_bytes)
      : body_(pool, budget), max_message_bytes_(max_message_bytes) {}

  // Takes bytes up to the end of the current message and says how many. Not to be called while a
  // message is complete. Errors: kResourceExhausted (message too large), kUnavailable (budget),
  // kInternal (a flag that is neither 0 nor 1).
  Result<std::size_t> read(std::span<const std::byte> data);

  bool complete() const { return prefix_size_ == kPrefix && body_.size() == length_; }
  Message take();

  // True between messages: the body may end here.
  bool at_boundary() const { return prefix_size_ == 0; }

  static constexpr std::size_t kPrefix = 5;
  // What a message costs beyond its bytes while it waits; counts against the budget. Measured: 215
  // bytes for each of 11 million messages of one byte.
  static constexpr std::size_t kOverhead = 256;

 private:
  Status start_message();

  MessageBuffer body_;
  std::size_t max_message_bytes_;
  std::array<unsigned char, kPrefix> prefix_{};
  std::size_t prefix_size_ = 0;
  std::size_t length_ = 0;
};

}  // namespace proa::frontends
