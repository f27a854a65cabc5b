#include "lifecycle/catalog.h"

#include <algorithm>

#include "base/log.h"

namespace proa::lifecycle {
namespace {

std::uint64_t next_catalog_id() {
  static std::atomic<std::uint64_t> next = 1;
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// Keeps a model for those who found it; the last one to go tells the catalog.
struct Catalog::Lease {
  Lease(ModelPtr held, std::weak_ptr<Catalog> from, std::string model_name, std::uint64_t lease)
      : model(std::move(held)),
        catalog(std::move(from)),
        name(std::move(model_name)),
        number(lease) {}
  ~Lease() {
    const std::int64_t version = model->version();
    model.reset();
    if (const auto still_there = catalog.lock()) still_there->lease_ended(name, version, number);
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  ModelPtr model;
  std::weak_ptr<Catalog> catalog;
  std::string name;
  std::uint64_t number;
};

Catalog::Catalog() : id_(next_catalog_id()), snapshot_(std::make_shared<const Snapshot>()) {}

const Snapshot& Catalog::snapshot() const {
  struct Seen {
    std::uint64_t catalog = 0;
    std::uint64_t generation = 0;
    std::shared_ptr<const Snapshot> snapshot;
  };
  thread_local Seen seen;
  if (seen.catalog != id_ || seen.generation != generation_.load(std::memory_order_acquire)) {
    seen.snapshot = take_snapshot(seen.generation);
    seen.catalog = id_;
  }
  return *seen.snapshot;
}

std::shared_ptr<const Snapshot> Catalog::take_snapshot(std::uint64_t& generation) const {
  MutexLock lock(mutex_);
  if (!stale_.empty()) {
    auto next = std::make_shared<Snapshot>(*snapshot_);
    for (const std::string& name : stale_) {
      const auto record = records_.find(name);
      if (record == records_.end()) {
        next->erase(name);
      } else {
        next->set(name, view_of(record->second));
      }
    }
    stale_.clear();
    snapshot_ = std::move(next);
  }
  generation = generation_.load(std::memory_order_relaxed);
  return snapshot_;
}

ModelView Catalog::view_of(const Record& record) {
  ModelView view;
  view.state = record.state;
  view.reason = record.reason;
  for (const auto& [number, version] : record.versions) {
    if (version.state == VersionState::kReady) {
      view.latest = static_cast<std::ptrdiff_t>(view.versions.size());
    }
    const bool ready = version.state == VersionState::kReady;
    view.versions.push_back({number, version.state, version.reason,
                             ready ? std::weak_ptr(version.model) : std::weak_ptr<core::Model>()});
  }
  return view;
}

std::vector<VersionStatus> Catalog::index() const {
  MutexLock lock(mutex_);
  std::vector<VersionStatus> lines;
  for (const auto& [name, record] : records_) {
    if (record.versions.empty()) lines.push_back({name, "", record.state, record.reason});
    for (const auto& [number, version] : record.versions) {
      lines.push_back({name, std::to_string(number), version.state, version.reason});
    }
  }
  return lines;
}

bool Catalog::any_in(const Record& record, VersionState state) {
  return std::ranges::any_of(record.versions,
                             [&](const auto& item) { return item.second.state == state; });
}

bool Catalog::has_ready(std::string_view name) const {
  MutexLock lock(mutex_);
  const auto record = records_.find(name);
  return record != records_.end() && any_in(record->second, VersionState::kReady);
}

bool Catalog::is_ready(std::string_view name, std::int64_t version) const {
  MutexLock lock(mutex_);
  const auto record = records_.find(name);
  if (record == records_.end()) return false;
  const auto found = record->second.versions.find(version);
  return found != record->second.versions.end() && found->second.state == VersionState::kReady;
}

bool Catalog::has_loaded(std::string_view name) const {
  MutexLock lock(mutex_);
  const auto record = records_.find(name);
  return record != records_.end() &&
         std::ranges::any_of(record->second.versions,
                             [](const auto& item) { return item.second.model != nullptr; });
}

bool Catalog::recheck(std::string_view name) {
  std::vector<ModelPtr> models;
  {
    MutexLock lock(mutex_);
    const auto record = records_.find(name);
    if (record == records_.end()) return false;
    for (const auto& [number, version] : record->second.versions) {
      if (version.model != nullptr) models.push_back(version.model);
    }
  }
  bool any = false;
  for (const ModelPtr& model : models) {
    // Asks other models, so not under the lock. How well they are changes without a load, and
    // nobody would ask again: that is for Model::health().
    const auto pinned = model->pin(0);
    MutexLock lock(mutex_);
    const auto record = records_.find(name);
    if (record == records_.end()) return any;
    const auto found = record->second.versions.find(model->version());
    if (found == record->second.versions.end() || found->second.model != model) continue;
    Version& version = found->second;
    const std::string reason = pinned ? std::string() : pinned.error().message;
    const VersionState state = pinned ? VersionState::kReady : VersionState::kUnavailable;
    if (version.state == state && (pinned || version.reason == reason)) continue;
    any |= version.state != state;
    version.state = state;
    version.reason = reason;
    changed(name);
  }
  return any;
}

void Catalog::begin_load(const std::string& name) {
  MutexLock lock(mutex_);
  Record& record = records_[name];
  record.forget = false;
  if (any_in(record, VersionState::kReady)) return;
  record.state = VersionState::kLoading;
  record.reason.clear();
  for (auto& [number, version] : record.versions) {
    if (version.state != VersionState::kUnavailable || version.model != nullptr) continue;
    version = Version();
  }
  changed(name);
}

void Catalog::fail_load(std::string_view name, const std::string& reason,
                        std::span<const FailedVersion> failed) {
  MutexLock lock(mutex_);
  const auto found = records_.find(name);
  if (found == records_.end()) return;
  Record& record = found->second;
  record.state = VersionState::kUnavailable;
  record.reason = reason;
  for (auto& [number, version] : record.versions) {
    if (version.state == VersionState::kReady) {
      version.reason = "serves on, although the last load failed: " + reason;
    } else if (version.state == VersionState::kLoading) {
      version.state = VersionState::kUnavailable;
      version.reason = reason;
    }
  }
  for (const FailedVersion& one : failed) {
    const auto [entry, is_new] = record.versions.try_emplace(one.version);
    if (!is_new && entry->second.state != VersionState::kUnavailable) continue;
    entry->second.state = VersionState::kUnavailable;
    entry->second.reason = one.reason;
  }
  changed(name);
}

void Catalog::replace(const std::string& name, std::vector<LoadedVersion> versions,
                      std::span<const std::int64_t> keep) {
  std::vector<ModelPtr> dropped;
  {
    MutexLock lock(mutex_);
    if (closed_) return;
    Record& record = records_[name];
    dropped = take_out(name, record, std::string(kUnloaded), keep);
    std::erase_if(record.versions, [](const auto& item) {
      return item.second.state != VersionState::kUnloading && item.second.model == nullptr;
    });
    for (auto& [number, version] : record.versions) {
      if (version.state == VersionState::kReady) version.reason.clear();
    }
    for (LoadedVersion& loaded : versions) {
      Version& version = record.versions[loaded.version];
      version = Version();
      if (!loaded.model) {
        version.state = VersionState::kUnavailable;
        version.reason = loaded.model.error().message;
        continue;
      }
      version.state = VersionState::kReady;
      version.lease = next_lease_++;
      auto lease =
          std::make_shared<Lease>(*std::move(loaded.model), weak_from_this(), name, version.lease);
      version.model = ModelPtr(lease, lease->model.get());
    }
    changed(name);
  }
}

Status Catalog::retire(std::string_view name, const std::string& reason, Afterwards afterwards) {
  std::vector<ModelPtr> dropped;
  {
    MutexLock lock(mutex_);
    const auto found = records_.find(name);
    if (found == records_.end()) {
      return error::not_found("model '{}' is not in the repository", log::printable(name));
    }
    dropped = take_out(found->first, found->second, reason);
    for (auto& [number, version] : found->second.versions) {
      // A load that was given up has left its versions LOADING.
      if (version.state == VersionState::kLoading) version.state = VersionState::kUnavailable;
      if (version.state == VersionState::kUnavailable) version.reason = reason;
    }
    found->second.state = VersionState::kUnavailable;
    found->second.reason = reason;
    found->second.forget = afterwards == Afterwards::kForget;
    changed(name);
    forget_if_ended(name);
  }
  return {};
}

void Catalog::forget_if_ended(std::string_view name) {
  const auto record = records_.find(name);
  if (record == records_.end() || !record->second.forget) return;
  if (!any_in(record->second, VersionState::kUnloading)) records_.erase(record);
}

void Catalog::close(const std::string& reason) {
  std::vector<ModelPtr> dropped;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    for (auto& [name, record] : records_) {
      std::ranges::move(take_out(name, record, reason), std::back_inserter(dropped));
      record.state = VersionState::kUnavailable;
      record.reason = reason;
      changed(name);
    }
  }
}

std::vector<Catalog::ModelPtr> Catalog::take_out(const std::string& name, Record& record,
                                                 const std::string& reason,
                                                 std::span<const std::int64_t> keep) {
  std::vector<ModelPtr> dropped;
  for (auto& [number, version] : record.versions) {
    if (version.model == nullptr) continue;
    if (std::ranges::find(keep, number) != keep.end()) continue;
    retired_[version.lease] = {name, version.model};
    dropped.push_back(std::move(version.model));
    version.state = VersionState::kUnloading;
    version.reason = reason;
  }
  return dropped;
}

void Catalog::lease_ended(const std::string& name, std::int64_t version, std::uint64_t number) {
  MutexLock lock(mutex_);
  retired_.erase(number);
  if (const auto record = records_.find(name); record != records_.end()) {
    const auto ended = record->second.versions.find(version);
    // A newer model may have the version's place by now.
    if (ended != record->second.versions.end() && ended->second.lease == number) {
      ended->second.state = VersionState::kUnavailable;
      changed(name);
      forget_if_ended(name);
    }
  }
  if (retired_.empty()) drained_.notify_all();
}

std::vector<Catalog::ModelPtr> Catalog::ready_models() const {
  MutexLock lock(mutex_);
  std::vector<ModelPtr> models;
  for (const auto& [name, record] : records_) {
    for (const auto& [number, version] : record.versions) {
      if (version.state == VersionState::kReady) models.push_back(version.model);
    }
  }
  return models;
}

std::vector<Catalog::ModelPtr> Catalog::retired(std::string_view name) const {
  MutexLock lock(mutex_);
  std::vector<ModelPtr> models;
  for (const auto& [number, retired] : retired_) {
    if (!name.empty() && retired.name != name) continue;
    if (ModelPtr model = retired.model.lock()) models.push_back(std::move(model));
  }
  return models;
}

bool Catalog::wait_until_drained(TimePoint deadline) {
  MutexLock lock(mutex_);
  while (!retired_.empty()) {
    if (steady_clock().now() >= deadline) return false;
    drained_.wait_until(mutex_, deadline);
  }
  return true;
}

void Catalog::changed(std::string_view name) {
  stale_.emplace(name);
  generation_.fetch_add(1, std::memory_order_release);
}

}  // namespace proa::lifecycle
