#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/parameter.h"

namespace proa::backends::python {

// The messages between the server and its worker processes: little-endian fields, one behind the
// other, no padding but what is written here. worker/proa_wire.py is the other side.
//
// One message is one packet of a SOCK_SEQPACKET socket. One that is larger than kMostPacketBytes
// lies in a block of shared memory, and the packet (kSpilled) says where.
//
//   message   kind:u8 version:u8 0:u16 items:u32 returns:u32 loans:u32
//             returns x loan:u64                   the receiver's blocks that it gets back
//             loans x (loan:u64 block:u64)         the sender's blocks that it lends now
//             zeros up to a multiple of 16
//             the body: what the kind says; offsets and alignments count from here
//   string    bytes:u32, then those
//   tensor    index:u16 (of the model's input or output; kByName: a string follows the dims)
//             type:u8 (DataType) rank:u8 place:u32 offset:u64 bytes:u64, rank x i64
//             place kInline: the bytes lie in the body at `offset`, directly behind, aligned to 16
//                   n: in the block of the message's loan n
//                   kReceivers + n: in the receiver's own block, of its loan `returns[n]`
//             zeros up to a multiple of 8
//   parameters  count:u32, each: name:string type:u8 (0 bool, 1 i64, 2 u64, 3 f64, 4 string) value
//
// A loan is the right to read and write one block until it is given back. Its number is the
// lender's, never used twice. Blocks themselves are introduced by kBlocks packets, which carry
// their descriptors and come before their first loan.
enum class Message : std::uint8_t {
  // To the worker.
  kStart = 1,     // arguments; answered with kReady or kFailed
  kExecute = 2,   // requests (messages.h)
  kStop = 3,      // finalize, and end
  kComplete = 4,  // arguments; answered with kCompleted or kFailed
  kAnswer = 5,    // to kCall
  kCredit = 6,    // request:u64, whose client takes responses again
  kCheck = 7,     // is_ready; answered with kChecked
  // From the worker.
  kReady = 65,
  kResponses = 66,
  kFailed = 67,     // text:string
  kCompleted = 68,  // configuration as JSON:string
  kLog = 69,        // level:u8 file:string line:u32 text:string
  kMetric = 70,
  kCall = 71,     // what BLS asks for
  kChecked = 72,  // ready:u8
  // Both ways.
  kBlocks = 128,   // items x (block:u64 bytes:u64), one descriptor each; then
                   // gone:u32, gone x block:u64: the receiver may forget these
  kSpilled = 129,  // loan 0 holds the message: bytes:u64
};

inline constexpr std::uint8_t kWireVersion = 1;
inline constexpr std::size_t kMostPacketBytes = std::size_t{96} << 10;
// Larger tensors go through shared memory.
inline constexpr std::size_t kMostInlineBytes = std::size_t{16} << 10;
// Of all tensors of a message together.
inline constexpr std::size_t kMostInlineTotal = std::size_t{64} << 10;
inline constexpr std::size_t kInlineAlignment = 16;
inline constexpr std::uint32_t kInline = 0xffffffff;
inline constexpr std::uint32_t kReceivers = 0x80000000;
inline constexpr std::uint16_t kByName = 0xffff;
// Descriptors in one packet.
inline constexpr std::size_t kMostBlocksPerPacket = 64;

// Appends fields to a message. Threading: confined to its owner.
class WireWriter {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put(T value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }
  void put_string(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    bytes_.append(text);
  }
  void put_bytes(std::span<const std::byte> bytes) {
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void put_parameters(const Parameters& parameters);
  // Zeros until size() is a multiple of `alignment`.
  void align(std::size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
  }
  // Overwrites a field that was put at `at`.
  template <class T>
  void replace(std::size_t at, T value) {
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }

  std::size_t size() const { return bytes_.size(); }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

 private:
  std::string bytes_;
};

// Reads fields of a message that somebody else wrote, who may have written anything. Reading past
// the end gives zeros and makes ok() false for good.
// Threading: confined to its owner; the bytes must not change meanwhile.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
    requires std::is_trivially_copyable_v<T>
  T get() {
    T value{};
    if (const auto from = take(sizeof(T)); !from.empty()) {
      std::memcpy(&value, from.data(), sizeof(T));
    }
    return value;
  }
  // A view into the message.
  std::string_view get_string();
  Parameters get_parameters();
  // That many bytes, which must be there; else ok() becomes false. For counts of what follows.
  bool has(std::uint64_t count, std::size_t bytes_each);

  // Goes on at the next multiple of `alignment`, counted from the beginning or start_body().
  void align(std::size_t alignment) { take((alignment - (at_ - body_) % alignment) % alignment); }
  // What follows is the message's body, from which offsets count.
  void start_body() { body_ = at_; }
  std::span<const std::byte> body() const { return bytes_.subspan(body_); }
  // Goes on at that place of the body, which is not behind the reader.
  void skip_to(std::uint64_t offset) {
    if (offset < at_ - body_) {
      ok_ = false;
      return;
    }
    take(offset - (at_ - body_));
  }

  bool ok() const { return ok_; }

 private:
  std::span<const std::byte> take(std::size_t size);

  const std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::size_t body_ = 0;
  bool ok_ = true;
};

// The beginning of every message.
struct MessageHead {
  Message kind = Message::kFailed;
  std::uint32_t items = 0;
  std::uint32_t returns = 0;
  std::uint32_t loans = 0;
};
inline constexpr std::size_t kHeadBytes = 16;

void put_head(WireWriter& writer, const MessageHead& head);
// ok() of the reader is false when it is none of this version, or its counts cannot be.
MessageHead get_head(WireReader& reader);

}  // namespace proa::backends::python
