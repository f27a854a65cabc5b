#include "net/output_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace proa::net {
namespace {

// What an empty queue keeps of its buffer, and what a full one lets lie unused.
constexpr std::size_t kKeptBytes = 64 * 1024;
constexpr std::size_t kKeptPieces = 64;

}  // namespace

void OutputQueue::note_copied(std::size_t size_before) {
  const std::size_t added = copied_.size() - size_before;
  if (added == 0) return;
  if (first_ < pieces_.size() && pieces_.back().data == nullptr) {
    pieces_.back().size += added;
  } else {
    pieces_.push_back({nullptr, copied_base_ + size_before, added, {}});
  }
  size_ += added;
}

void OutputQueue::append(Segment&& segment) {
  if (segment.bytes.size() < kReferenceBytes) {
    append(segment.bytes);
  } else {
    const std::size_t size = segment.bytes.size();
    std::string owned = std::move(segment.bytes);
    const char* data = owned.data();  // on the heap at that size: stays put when moved
    append_owned(data, size, std::move(owned));
  }
  append(std::move(segment.view));
}

void OutputQueue::append(BufferView&& view) {
  const char* data = reinterpret_cast<const char*>(view.data());
  if (view.size < kReferenceBytes) {
    append(std::string_view(data, view.size));
    view = BufferView();
  } else {
    append_owned(data, view.size, std::move(view.buffer));
  }
}

void OutputQueue::append_owned(const char* data, std::size_t size,
                               std::variant<std::monostate, std::string, Buffer> owner) {
  pieces_.push_back({data, 0, size, std::move(owner)});
  size_ += size;
}

std::size_t OutputQueue::gather(std::span<iovec> into) const {
  std::size_t used = 0;
  for (std::size_t i = first_; i < pieces_.size() && used < into.size(); ++i) {
    const Piece& piece = pieces_[i];
    const char* data = piece.data;
    if (data == nullptr) data = copied_.data() + (piece.offset - copied_base_);
    into[used++] = {const_cast<char*>(data), piece.size};
  }
  return used;
}

void OutputQueue::consume(std::size_t bytes) {
  PROA_CHECK(bytes <= size_, "only what is queued can be sent");
  size_ -= bytes;
  while (bytes > 0) {
    Piece& piece = pieces_[first_];
    const std::size_t taken = std::min(bytes, piece.size);
    piece.size -= taken;
    if (piece.data == nullptr) {
      piece.offset += taken;
    } else {
      piece.data += taken;
    }
    bytes -= taken;
    if (piece.size == 0) {
      piece.owner = std::monostate();
      ++first_;
    }
  }
  if (size_ == 0) {
    clear();
  } else {
    compact();
  }
}

void OutputQueue::clear() {
  pieces_.clear();
  first_ = 0;
  copied_base_ = 0;
  size_ = 0;
  if (copied_.capacity() > kKeptBytes) copied_ = std::string();
  copied_.clear();
}

// A queue that never runs empty must not keep what it has sent.
void OutputQueue::compact() {
  if (first_ >= kKeptPieces) {
    pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  std::size_t needed = copied_base_ + copied_.size();
  for (std::size_t i = first_; i < pieces_.size(); ++i) {
    if (pieces_[i].data != nullptr) continue;
    needed = pieces_[i].offset;
    break;
  }
  if (needed - copied_base_ >= kKeptBytes) {
    copied_.erase(0, needed - copied_base_);
    copied_base_ = needed;
  }
}

}  // namespace proa::net
