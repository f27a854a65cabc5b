#include "lifecycle/keyed_jobs.h"

#include <utility>

namespace proa::lifecycle {

void KeyedJobs::post(const std::string& key, Job job, Job afterwards) {
  MutexLock lock(mutex_);
  const auto [entry, is_new] = waiting_.try_emplace(key);
  entry->second.push_back({std::move(job), std::move(afterwards)});
  lock.unlock();
  if (is_new) pool_.post([this, key] { drain(key); });
}

void KeyedJobs::run_or_post(const std::string& key, Job job) {
  MutexLock lock(mutex_);
  const auto [entry, is_new] = waiting_.try_emplace(key);
  if (!is_new) {
    entry->second.push_back({std::move(job), nullptr});
    return;
  }
  lock.unlock();
  job();
  lock.lock();
  const bool more = !waiting_[key].empty();
  if (!more) waiting_.erase(key);
  lock.unlock();
  if (more) pool_.post([this, key] { drain(key); });
}

void KeyedJobs::drain(const std::string& key) {
  bool last = false;
  while (!last) {
    Entry entry;
    {
      MutexLock lock(mutex_);
      std::deque<Entry>& entries = waiting_[key];
      entry = std::move(entries.front());
      entries.pop_front();
    }
    entry.job();
    entry.job = nullptr;
    {
      MutexLock lock(mutex_);
      const auto entries = waiting_.find(key);
      last = entries->second.empty();
      if (last) waiting_.erase(entries);
    }
    if (entry.afterwards) entry.afterwards();
  }
}

}  // namespace proa::lifecycle
