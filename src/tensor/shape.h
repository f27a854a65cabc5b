#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "boost/container/small_vector.hpp"

namespace proa {

// The extents of a tensor, outermost first. -1 stands for "any" where a model's signature is
// described; a tensor's own shape has none. Up to six dimensions live inside the object.
// Threading: a plain value.
class Shape {
 public:
  static constexpr std::int64_t kAny = -1;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : dims_(dims) {}
  explicit Shape(std::span<const std::int64_t> dims) : dims_(dims.begin(), dims.end()) {}

  std::size_t rank() const { return dims_.size(); }
  bool empty() const { return dims_.empty(); }
  std::int64_t operator[](std::size_t i) const { return dims_[i]; }
  std::int64_t& operator[](std::size_t i) { return dims_[i]; }
  void push_back(std::int64_t dim) { dims_.push_back(dim); }
  void clear() { dims_.clear(); }

  auto begin() const { return dims_.begin(); }
  auto end() const { return dims_.end(); }
  std::span<const std::int64_t> dims() const { return {dims_.data(), dims_.size()}; }

  // The shape without its first dimension (rank >= 1), and with `dim` in front.
  Shape without_first() const { return Shape(dims().subspan(1)); }
  Shape with_first(std::int64_t dim) const;

  bool is_fully_known() const;

  // The product of the extents (1 for rank 0); nothing when an extent is negative or the product
  // does not fit 63 bits.
  std::optional<std::int64_t> element_count() const;

  // Same rank, and every extent equal or kAny in `pattern`.
  bool matches(const Shape& pattern) const;

  // "[1,3,224,224]"
  std::string to_string() const;

  friend bool operator==(const Shape& a, const Shape& b) { return a.dims_ == b.dims_; }

 private:
  boost::container::small_vector<std::int64_t, 6> dims_;
};

}  // namespace proa
