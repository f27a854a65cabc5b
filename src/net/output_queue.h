#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "net/exchange.h"

namespace proa::net {

// Bytes on their way to a socket, in order. Short ones are copied into a buffer of the queue's, so
// that a head and a small body are one piece; long ones are kept alive and sent from where they
// lie.
// Threading: confined to its loop's thread.
class OutputQueue {
 public:
  // Parts of at least that size are not copied.
  static constexpr std::size_t kReferenceBytes = 4096;

  void append(std::string_view bytes) {
    write([bytes](std::string& out) { out.append(bytes); });
  }
  // `writer(std::string&)` appends to the copied bytes.
  template <class Writer>
  void write(Writer writer) {
    const std::size_t before = copied_.size();
    writer(copied_);
    note_copied(before);
  }
  // Moves from `segment`.
  void append(Segment&& segment);
  void append(BufferView&& view);

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  // Describes the first bytes in `into`; returns how many entries it used.
  std::size_t gather(std::span<iovec> into) const;
  // Drops the first `bytes`, which must be there.
  void consume(std::size_t bytes);
  void clear();

 private:
  struct Piece {
    const char* data;  // null: `offset` bytes into all that was ever copied
    std::size_t offset;
    std::size_t size;
    std::variant<std::monostate, std::string, Buffer> owner;
  };

  void note_copied(std::size_t size_before);
  void append_owned(const char* data, std::size_t size,
                    std::variant<std::monostate, std::string, Buffer> owner);
  void compact();

  std::vector<Piece> pieces_;
  std::size_t first_ = 0;  // pieces before it are gone
  std::string copied_;
  std::size_t copied_base_ = 0;  // how many copied bytes lay before copied_[0]
  std::size_t size_ = 0;
};

}  // namespace proa::net
