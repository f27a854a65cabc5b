#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace proa::backends::index {

// How near two vectors are.
enum class Metric : std::uint8_t {
  kCosine,        // of the angle between them; larger is nearer
  kInnerProduct,  // larger is nearer
  kL2,            // the square of their distance; smaller is nearer
};
inline constexpr std::string_view kMetricNames = "cosine, inner_product or l2";
std::string_view metric_name(Metric metric);
std::optional<Metric> find_metric(std::string_view name);

// How the vectors are arranged.
enum class Arrangement : std::uint8_t {
  kFlat,  // side by side: every query looks at all of them, and finds the nearest
  kHnsw,  // a graph of neighbours: a query looks at few of them, and misses some
};

struct Neighbours {
  // [queries, k], the nearest first: which number each vector was put in as; -1 where there are
  // fewer than k vectors.
  std::vector<std::int64_t> rows;
  // [queries, k], in the unit of the metric; the worst float there is where the row is -1.
  std::vector<float> scores;
};

struct SearchOptions {
  std::int64_t k = 10;
  int ef_search = 64;  // HNSW: candidates that are kept while searching; more is slower and better
};

// Vectors of one length and their ids, in faiss's arrangements and file format, so that an index
// that Python's faiss has written can be served too.
// Threading: search() is const and may run on several threads; one call computes on its caller's
// thread alone.
// Source: https://github.com/facebookresearch/faiss, version 1.7.3.
class VectorIndex {
 public:
  // A file that faiss.write_index() or write() made: flat or HNSW over float vectors, with ids of
  // its own (IndexIDMap) or without, where a vector's id is its number. `metric`: none = what the
  // file says (which does not tell cosine from inner product).
  // Errors: kNotFound, kInvalidArgument (no index, another kind, another metric) with the path.
  static Result<VectorIndex> read(const std::filesystem::path& file, std::optional<Metric> metric);

  // `vectors` is [count, dimension]; ids are 0 to count - 1. For cosine they are scaled to
  // length 1. Errors: kInvalidArgument for values that are not finite and, for cosine, vectors of
  // zeros.
  static Result<VectorIndex> build(std::vector<float> vectors, std::int64_t dimension,
                                   Metric metric, Arrangement arrangement);

  VectorIndex(VectorIndex&&) noexcept;
  VectorIndex& operator=(VectorIndex&&) noexcept;
  ~VectorIndex();

  // Errors: kUnavailable with the path and the system's reason.
  Status write(const std::filesystem::path& file) const;

  std::int64_t dimension() const;
  std::int64_t size() const;
  Metric metric() const;
  Arrangement arrangement() const;
  // The id of the vector that was put in as number `row`.
  std::int64_t id(std::int64_t row) const;

  // The neighbours of [n, dimension] queries, whose values are finite (check_query()).
  // Errors: kInternal with faiss's reason.
  Result<Neighbours> search(std::span<const float> queries, const SearchOptions& options) const;

  // Whether a query of dimension() values has an answer.
  // Errors: kInvalidArgument: a value that is not finite; zeros alone, for cosine.
  Status check_query(std::span<const float> query) const;

 private:
  struct Impl;
  explicit VectorIndex(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The share of the exact answers that the approximate ones have, 0 to 1; both [queries, k].
double recall(const Neighbours& exact, const Neighbours& approximate, std::int64_t k);

}  // namespace proa::backends::index
