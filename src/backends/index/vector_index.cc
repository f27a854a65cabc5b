#include "backends/index/vector_index.h"

#include <faiss/IndexFlat.h>
#include <faiss/IndexHNSW.h>
#include <faiss/IndexIDMap.h>
#include <faiss/impl/FaissException.h>
#include <faiss/index_io.h>
#include <faiss/utils/distances.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

#include "base/log.h"

// Of the OpenMP that faiss was compiled with; <omp.h> belongs to a compiler.
extern "C" void omp_set_num_threads(int threads);

namespace proa::backends::index {
namespace {

namespace fs = std::filesystem;

// Neighbours that each vector keeps in the graph, and candidates that are looked at while it is
// built: the usual middle between memory, time and recall.
constexpr int kHnswNeighbours = 32;
constexpr int kHnswBuildWidth = 200;

constexpr std::pair<Metric, std::string_view> kNames[] = {
    {Metric::kCosine, "cosine"}, {Metric::kInnerProduct, "inner_product"}, {Metric::kL2, "l2"}};

faiss::MetricType metric_of(Metric metric) {
  return metric == Metric::kL2 ? faiss::METRIC_L2 : faiss::METRIC_INNER_PRODUCT;
}

// faiss's `what()` begins with the place in its source.
std::string reason(const std::exception& failure) {
  const std::string_view text = failure.what();
  const std::size_t cut = text.rfind(": ");
  return log::printable(cut == std::string_view::npos ? text : text.substr(cut + 2));
}

bool is_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

bool is_zero(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return value == 0; });
}

// faiss would start OpenMP's threads; who serves gives instances threads of their own.
void compute_on_this_thread() {
  static thread_local const bool set = [] {
    omp_set_num_threads(1);
    return true;
  }();
  static_cast<void>(set);
}

Status check_values(std::span<const float> vector, Metric metric) {
  if (!is_finite(vector)) {
    return error::invalid_argument("a value of the vector is not finite (NaN or infinity)");
  }
  if (metric == Metric::kCosine && is_zero(vector)) {
    return error::invalid_argument("the vector is all zeros, which has no cosine with any other");
  }
  return {};
}

}  // namespace

std::string_view metric_name(Metric metric) {
  for (const auto& [each, name] : kNames) {
    if (each == metric) return name;
  }
  return "";
}

std::optional<Metric> find_metric(std::string_view name) {
  for (const auto& [metric, each] : kNames) {
    if (each == name) return metric;
  }
  return std::nullopt;
}

struct VectorIndex::Impl {
  std::unique_ptr<faiss::Index> index;
  const std::vector<faiss::Index::idx_t>* ids = nullptr;  // of an IndexIDMap; null = numbers
  const faiss::Index* vectors = nullptr;                  // below the ids
  Arrangement arrangement = Arrangement::kFlat;
  Metric metric = Metric::kL2;
};

VectorIndex::VectorIndex(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
VectorIndex::VectorIndex(VectorIndex&&) noexcept = default;
VectorIndex& VectorIndex::operator=(VectorIndex&&) noexcept = default;
VectorIndex::~VectorIndex() = default;

namespace {

// What lies below an IndexIDMap; null when it is none of the kinds that are served.
const faiss::Index* vectors_of(const faiss::Index& index) {
  const auto* with_ids = dynamic_cast<const faiss::IndexIDMap*>(&index);
  const faiss::Index* vectors = with_ids != nullptr ? with_ids->index : &index;
  const bool served = dynamic_cast<const faiss::IndexFlat*>(vectors) != nullptr ||
                      dynamic_cast<const faiss::IndexHNSWFlat*>(vectors) != nullptr;
  return served ? vectors : nullptr;
}

// The metric to search by: what was asked for, if the file was made for it.
Result<Metric> settle_metric(faiss::MetricType in_file, std::optional<Metric> wanted) {
  if (in_file != faiss::METRIC_L2 && in_file != faiss::METRIC_INNER_PRODUCT) {
    return error::invalid_argument(
        "its metric is number {} of faiss; served are inner product and "
        "L2",
        static_cast<int>(in_file));
  }
  const Metric found = in_file == faiss::METRIC_L2 ? Metric::kL2 : Metric::kInnerProduct;
  if (wanted && metric_of(*wanted) != in_file) {
    return error::invalid_argument(
        "its metric is {}, the parameter 'metric' says {}: remove the parameter or build the index "
        "anew",
        metric_name(found), metric_name(*wanted));
  }
  return wanted.value_or(found);
}

}  // namespace

Result<VectorIndex> VectorIndex::read(const fs::path& file, std::optional<Metric> metric) {
  std::error_code failed;
  if (!fs::is_regular_file(file, failed)) {
    return error::not_found("{}: no such file; `proa index build` makes it", file.string());
  }
  auto impl = std::make_unique<Impl>();
  try {
    impl->index.reset(faiss::read_index(file.c_str()));
  } catch (const std::exception& failure) {
    return error::invalid_argument("{} is not an index that faiss can read: {}", file.string(),
                                   reason(failure));
  }
  impl->vectors = vectors_of(*impl->index);
  if (impl->vectors == nullptr) {
    return error::unimplemented(
        "{}: served are faiss's IndexFlat and IndexHNSWFlat, with IndexIDMap around them or not; "
        "this file holds another kind",
        file.string());
  }
  const bool hnsw = dynamic_cast<const faiss::IndexHNSWFlat*>(impl->vectors) != nullptr;
  impl->arrangement = hnsw ? Arrangement::kHnsw : Arrangement::kFlat;
  if (const auto* with_ids = dynamic_cast<const faiss::IndexIDMap*>(impl->index.get())) {
    impl->ids = &with_ids->id_map;
  }
  const Result<Metric> settled = settle_metric(impl->vectors->metric_type, metric);
  if (!settled) return with_context(file.string(), settled.error());
  impl->metric = *settled;
  return VectorIndex(std::move(impl));
}

Result<VectorIndex> VectorIndex::build(std::vector<float> vectors, std::int64_t dimension,
                                       Metric metric, Arrangement arrangement) {
  const auto length = static_cast<std::size_t>(dimension);
  const auto count = static_cast<std::int64_t>(vectors.size() / length);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = std::span(vectors).subspan(static_cast<std::size_t>(i) * length, length);
    const Status fine = check_values(row, metric);
    if (!fine) return with_context(fmt::format("vector {}", i), fine.error());
  }
  auto impl = std::make_unique<Impl>();
  impl->metric = metric;
  impl->arrangement = arrangement;
  try {
    if (metric == Metric::kCosine)
      faiss::fvec_renorm_L2(length, vectors.size() / length, vectors.data());
    if (arrangement == Arrangement::kFlat) {
      impl->index = std::make_unique<faiss::IndexFlat>(dimension, metric_of(metric));
    } else {
      auto graph = std::make_unique<faiss::IndexHNSWFlat>(static_cast<int>(dimension),
                                                          kHnswNeighbours, metric_of(metric));
      graph->hnsw.efConstruction = kHnswBuildWidth;
      impl->index = std::move(graph);
    }
    impl->index->add(count, vectors.data());
  } catch (const std::exception& failure) {
    return error::internal("the index cannot be built: {}", reason(failure));
  }
  impl->vectors = impl->index.get();
  return VectorIndex(std::move(impl));
}

Status VectorIndex::write(const fs::path& file) const {
  try {
    faiss::write_index(impl_->index.get(), file.c_str());
  } catch (const std::exception& failure) {
    return error::unavailable("{} cannot be written: {}", file.string(), reason(failure));
  }
  return {};
}

std::int64_t VectorIndex::dimension() const { return impl_->vectors->d; }
std::int64_t VectorIndex::size() const { return impl_->vectors->ntotal; }
Metric VectorIndex::metric() const { return impl_->metric; }
Arrangement VectorIndex::arrangement() const { return impl_->arrangement; }

std::int64_t VectorIndex::id(std::int64_t row) const {
  return impl_->ids == nullptr ? row : (*impl_->ids)[static_cast<std::size_t>(row)];
}

Status VectorIndex::check_query(std::span<const float> query) const {
  return check_values(query, impl_->metric);
}

Result<Neighbours> VectorIndex::search(std::span<const float> queries,
                                       const SearchOptions& options) const {
  compute_on_this_thread();
  const auto length = static_cast<std::size_t>(dimension());
  const std::size_t count = queries.size() / length;
  const auto k = static_cast<std::size_t>(options.k);
  Neighbours found{std::vector<std::int64_t>(count * k, -1), std::vector<float>(count * k)};
  faiss::SearchParametersHNSW width;
  width.efSearch = options.ef_search;
  const faiss::SearchParameters* parameters =
      impl_->arrangement == Arrangement::kHnsw ? &width : nullptr;
  try {
    std::vector<float> scaled;
    if (impl_->metric == Metric::kCosine) {
      scaled.assign(queries.begin(), queries.end());
      faiss::fvec_renorm_L2(length, count, scaled.data());
      queries = scaled;
    }
    impl_->vectors->search(static_cast<std::int64_t>(count), queries.data(), options.k,
                           found.scores.data(), found.rows.data(), parameters);
  } catch (const std::exception& failure) {
    return error::internal("faiss: {}", reason(failure));
  }
  return found;
}

double recall(const Neighbours& exact, const Neighbours& approximate, std::int64_t k) {
  const auto width = static_cast<std::size_t>(k);
  std::size_t wanted = 0;
  std::size_t found = 0;
  for (std::size_t at = 0; at < exact.rows.size(); at += width) {
    const std::set<std::int64_t> truth(
        exact.rows.begin() + static_cast<std::ptrdiff_t>(at),
        exact.rows.begin() + static_cast<std::ptrdiff_t>(at + width));
    for (std::size_t i = at; i < at + width; ++i) {
      if (exact.rows[i] >= 0) ++wanted;
      if (approximate.rows[i] >= 0 && truth.contains(approximate.rows[i])) ++found;
    }
  }
  return wanted == 0 ? 1 : static_cast<double>(found) / static_cast<double>(wanted);
}

}  // namespace proa::backends::index
