#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"

namespace proa::core {

// Metrics that models define themselves, by family and labels. Models that name the same metric
// write into the same one. It is there while one of them is loaded.
//
// Threading: thread-safe. Owners hold it alive.
class CustomMetrics : public std::enable_shared_from_this<CustomMetrics> {
 public:
  enum class Kind : std::uint8_t { kCounter = 0, kGauge = 1, kHistogram = 2 };
  enum class Change : std::uint8_t { kIncrement = 0, kSet = 1, kObserve = 2 };
  using Labels = std::map<std::string, std::string>;

  struct Identity {
    Kind kind = Kind::kCounter;
    std::string family;
    std::string description;
    Labels labels;
    std::vector<double> buckets;  // upper bounds of a histogram, ascending
  };
  struct Metric {
    double value = 0;  // of a histogram the sum
    std::uint64_t count = 0;
    std::vector<std::uint64_t> buckets;  // one more than bounds: the rest
    std::vector<double> bounds;
  };
  struct Family {
    Kind kind = Kind::kCounter;
    std::string description;
    std::map<Labels, Metric> metrics;
  };

  // A model that has metrics. Metrics go with the last owner that has named them.
  class Owner {
   public:
    Owner(std::shared_ptr<CustomMetrics> metrics, std::uint64_t id)
        : metrics_(std::move(metrics)), id_(id) {}
    ~Owner() { metrics_->remove(id_); }
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;

    // Makes the metric if there is none. Its value.
    // Errors: kInvalidArgument for a name or label that Prometheus does not allow, a family that is
    // of another kind or the server's own, more than kMostMetrics.
    Result<double> value(const Identity& metric) { return metrics_->value(metric, id_); }
    // The same, and changes it. Errors: also for a change that the kind does not know.
    Status change(const Identity& metric, Change change, double value) {
      return metrics_->change(metric, change, value, id_);
    }

   private:
    const std::shared_ptr<CustomMetrics> metrics_;
    const std::uint64_t id_;
  };

  static std::shared_ptr<CustomMetrics> create() {
    return std::shared_ptr<CustomMetrics>(new CustomMetrics);
  }
  std::shared_ptr<Owner> add_owner() PROA_EXCLUDES(mutex_);

  // All there are now, by family.
  std::map<std::string, Family> families() const PROA_EXCLUDES(mutex_);

  static constexpr std::size_t kMostMetrics = 10'000;

 private:
  struct Owned {
    Metric metric;
    std::set<std::uint64_t> owners;
  };
  struct Group {
    Kind kind = Kind::kCounter;
    std::string description;
    std::map<Labels, Owned> metrics;
  };

  CustomMetrics() = default;
  Result<double> value(const Identity& metric, std::uint64_t owner) PROA_EXCLUDES(mutex_);
  Status change(const Identity& metric, Change change, double value, std::uint64_t owner)
      PROA_EXCLUDES(mutex_);
  Result<Metric*> find_locked(const Identity& metric, std::uint64_t owner) PROA_REQUIRES(mutex_);
  void remove(std::uint64_t owner) PROA_EXCLUDES(mutex_);

  mutable Mutex mutex_;
  std::uint64_t last_owner_ PROA_GUARDED_BY(mutex_) = 0;
  std::size_t count_ PROA_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Group> groups_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::core
