#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/result.h"
#include "core/memory_budget.h"
#include "tensor/buffer.h"

namespace proa::frontends {

// Gathers one message of the network (an HTTP body, a gRPC message) into one pooled block whose
// size follows what has come, not what was announced: a client that announces a gigabyte and sends
// nothing costs nothing. The bytes that have come count against the server's budget at once.
//
// Threading: confined to its owner. `pool` and `budget` must outlive it and what it gave away.
class MessageBuffer {
 public:
  // A block never holds more than this many times what has come, kSmall apart.
  static constexpr std::size_t kTrust = 16;
  static constexpr std::size_t kSmall = 16 * 1024;

  MessageBuffer(MemoryPool& pool, core::MemoryBudget& budget) : pool_(&pool), budget_(&budget) {}

  // Begins a message of `announced` bytes (nothing = unknown). `at_once` bytes are allocated with
  // the first byte if that many are announced. What was gathered before is dropped.
  void start(std::optional<std::size_t> announced, std::size_t at_once = kSmall);

  // Counts `overhead` bytes that the message costs beyond its own, which are many for a message of
  // few. Once, after start(). Errors: kUnavailable when the server's budget is used up.
  Status charge(std::size_t overhead);

  // Where the next bytes go: not empty, at most `wanted` (> 0) of them; filled() says how many
  // came. Errors: kUnavailable when the server's budget is used up.
  Result<std::span<std::byte>> room(std::size_t wanted);
  void filled(std::size_t bytes) { size_ += bytes; }

  Status append(std::span<const std::byte> data);

  std::size_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {block_.data(), size_}; }

  // Gives the message away, with its share of the budget; start() begins the next one.
  BufferView take();
  core::MemoryBudget::Reservation take_reservation() { return std::move(reservation_); }

 private:
  Status grow(std::size_t needed);
  Status reserve(std::size_t needed);

  MemoryPool* pool_;
  core::MemoryBudget* budget_;
  std::optional<std::size_t> announced_;
  std::size_t at_once_ = kSmall;
  Buffer block_;
  std::size_t size_ = 0;
  std::size_t overhead_ = 0;
  core::MemoryBudget::Reservation reservation_;
};

}  // namespace proa::frontends
