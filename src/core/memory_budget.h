#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

namespace proa::core {

// The server-wide cap on bytes that requests hold between their first body byte and their last
// response byte. New work is refused before memory runs out.
// Threading: thread-safe. Must outlive its reservations.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t limit_bytes) : limit_(limit_bytes) {}

  // A share of the budget, given back when it is destroyed.
  class Reservation {
   public:
    Reservation() = default;
    Reservation(Reservation&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Reservation& operator=(Reservation&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Reservation() {
      if (budget_ != nullptr) budget_->used_.fetch_sub(bytes_, std::memory_order_relaxed);
    }
    std::size_t bytes() const { return bytes_; }
    // Counts `bytes` more in any case, as reserve() does; of an empty share it changes nothing.
    void add(std::size_t bytes) {
      if (budget_ == nullptr) return;
      budget_->used_.fetch_add(bytes, std::memory_order_relaxed);
      bytes_ += bytes;
    }
    // A share of the same budget with no bytes yet.
    Reservation empty_share() const { return {budget_, 0}; }
    // Takes over the share of `other`, of the same budget.
    void merge(Reservation other) {
      if (budget_ == nullptr) return std::swap(*this, other);
      bytes_ += std::exchange(other.bytes_, 0);
    }

   private:
    friend class MemoryBudget;
    Reservation(MemoryBudget* budget, std::size_t bytes) : budget_(budget), bytes_(bytes) {}
    MemoryBudget* budget_ = nullptr;
    std::size_t bytes_ = 0;
  };

  // Nothing when `bytes` more would exceed the limit.
  std::optional<Reservation> try_reserve(std::size_t bytes) {
    std::size_t used = used_.load(std::memory_order_relaxed);
    do {
      if (bytes > limit_ || used > limit_ - bytes) return std::nullopt;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return Reservation(this, bytes);
  }

  // Counts `bytes` in any case: for what is there already, such as a finished answer. New work
  // waits until it is gone.
  Reservation reserve(std::size_t bytes) {
    used_.fetch_add(bytes, std::memory_order_relaxed);
    return Reservation(this, bytes);
  }

  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  // What try_reserve() would still give.
  std::size_t left() const { return limit_ - std::min(used(), limit_); }
  std::size_t limit() const { return limit_; }

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> used_ = 0;
};

}  // namespace proa::core
