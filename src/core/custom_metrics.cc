#include "core/custom_metrics.h"

#include <algorithm>
#include <cmath>

#include "base/log.h"

namespace proa::core {
namespace {

constexpr std::string_view kKinds[] = {"counter", "gauge", "histogram"};

// Source: https://prometheus.io/docs/concepts/data_model/#metric-names-and-labels
bool is_name(std::string_view text, bool colon) {
  const auto good = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (c == ':' && colon);
  };
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') && std::ranges::all_of(text, good);
}

Status check(const CustomMetrics::Identity& metric) {
  if (!is_name(metric.family, true)) {
    return error::invalid_argument(
        "metric family '{}': a name is of letters, digits, '_' and ':', and begins with no digit",
        log::printable(metric.family));
  }
  for (const std::string_view ours : {"nv_", "proa_", "process_"}) {
    if (metric.family.starts_with(ours)) {
      return error::invalid_argument(
          "metric family '{}': names with '{}' in front are the server's own", metric.family, ours);
    }
  }
  for (const auto& [name, value] : metric.labels) {
    if (is_name(name, false) && !name.starts_with("__") && name != "le") continue;
    return error::invalid_argument(
        "metric family '{}': label '{}' must be of letters, digits and '_', begin with no digit "
        "and "
        "no '__', and not be 'le'",
        metric.family, log::printable(name));
  }
  if (!std::ranges::is_sorted(metric.buckets) ||
      std::ranges::any_of(metric.buckets, [](double bound) { return std::isnan(bound); })) {
    return error::invalid_argument("metric family '{}': its buckets do not ascend", metric.family);
  }
  return {};
}

}  // namespace

std::shared_ptr<CustomMetrics::Owner> CustomMetrics::add_owner() {
  MutexLock lock(mutex_);
  return std::make_shared<Owner>(shared_from_this(), ++last_owner_);
}

Result<CustomMetrics::Metric*> CustomMetrics::find_locked(const Identity& metric,
                                                          std::uint64_t owner) {
  auto group = groups_.find(metric.family);
  if (group != groups_.end() && group->second.kind != metric.kind) {
    return error::invalid_argument("metric family '{}' is a {} already, not a {}", metric.family,
                                   kKinds[static_cast<int>(group->second.kind)],
                                   kKinds[static_cast<int>(metric.kind)]);
  }
  if (group == groups_.end() || !group->second.metrics.contains(metric.labels)) {
    PROA_TRY(check(metric));
    if (count_ == kMostMetrics) {
      return error::invalid_argument("models have {} metrics already: use fewer labels", count_);
    }
    if (group == groups_.end()) {
      group = groups_.emplace(metric.family, Group{metric.kind, metric.description, {}}).first;
    }
    Owned& made = group->second.metrics[metric.labels];
    made.metric.bounds = metric.buckets;
    made.metric.buckets.resize(metric.buckets.size() + 1);
    ++count_;
  }
  Owned& found = group->second.metrics[metric.labels];
  found.owners.insert(owner);
  return &found.metric;
}

Result<double> CustomMetrics::value(const Identity& metric, std::uint64_t owner) {
  MutexLock lock(mutex_);
  PROA_ASSIGN(const Metric* found, find_locked(metric, owner));
  return found->value;
}

Status CustomMetrics::change(const Identity& metric, Change change, double value,
                             std::uint64_t owner) {
  const bool fits = metric.kind == Kind::kHistogram ? change == Change::kObserve
                    : metric.kind == Kind::kGauge   ? change != Change::kObserve
                                                    : change == Change::kIncrement && value >= 0;
  if (!fits) {
    return error::invalid_argument("metric family '{}': a {} does not change that way",
                                   metric.family, kKinds[static_cast<int>(metric.kind)]);
  }
  MutexLock lock(mutex_);
  PROA_ASSIGN(Metric * found, find_locked(metric, owner));
  if (change == Change::kSet) {
    found->value = value;
    return {};
  }
  found->value += value;
  if (change == Change::kObserve) {
    const auto bound = std::ranges::lower_bound(found->bounds, value);
    ++found->buckets[static_cast<std::size_t>(bound - found->bounds.begin())];
    ++found->count;
  }
  return {};
}

void CustomMetrics::remove(std::uint64_t owner) {
  MutexLock lock(mutex_);
  for (auto& [name, group] : groups_) {
    for (auto& [labels, owned] : group.metrics) owned.owners.erase(owner);
    count_ -=
        std::erase_if(group.metrics, [](const auto& entry) { return entry.second.owners.empty(); });
  }
  std::erase_if(groups_, [](const auto& entry) { return entry.second.metrics.empty(); });
}

std::map<std::string, CustomMetrics::Family> CustomMetrics::families() const {
  std::map<std::string, Family> result;
  MutexLock lock(mutex_);
  for (const auto& [name, group] : groups_) {
    Family& family = result[name];
    family.kind = group.kind;
    family.description = group.description;
    for (const auto& [labels, owned] : group.metrics) family.metrics[labels] = owned.metric;
  }
  return result;
}

}  // namespace proa::core
