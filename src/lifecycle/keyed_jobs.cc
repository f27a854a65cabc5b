#include "lifecycle/keyed_jobs.h"

#include <utility>

namespace proa::lifecycle {

void KeyedJobs::post(const std::string& key, Job job, Job afterwards) {
  MutexLock lock(mutex_);
  const auto [line, is_new] = waiting_.try_emplace(key);
  line->second.entries.push_back({std::move(job), std::move(afterwards)});
  if (is_new) line->second.hold = Hold::kHeld;
  lock.unlock();
  if (is_new) pool_.post([this, key] { begin(key); });
}

void KeyedJobs::run_or_post(const std::string& key, Job job) {
  MutexLock lock(mutex_);
  const auto [line, is_new] = waiting_.try_emplace(key);
  if (!is_new) {
    line->second.entries.push_back({std::move(job), nullptr});
    return;
  }
  lock.unlock();
  job();
  if (go_on(key, Hold::kHeld)) pool_.post([this, key] { begin(key); });
}

void KeyedJobs::run_between(const std::string& key, Job job) {
  MutexLock lock(mutex_);
  const auto [found, is_new] = waiting_.try_emplace(key);
  Line& line = found->second;
  if (!is_new && line.hold != Hold::kHeld) {
    line.between.push_back(std::move(job));
    return;
  }
  if (!is_new) line.hold = Hold::kAsked;
  lock.unlock();
  job();
  if (go_on(key, Hold::kHeld)) pool_.post([this, key] { begin(key); });
}

void KeyedJobs::hold(const std::string& key) {
  MutexLock lock(mutex_);
  waiting_.at(key).hold = Hold::kAsked;
}

void KeyedJobs::resume(const std::string& key) {
  MutexLock lock(mutex_);
  Line& line = waiting_.at(key);
  const bool held = line.hold == Hold::kHeld;
  if (!held) line.hold = Hold::kResumed;
  lock.unlock();
  if (held) pool_.post([this, key] { begin(key); });
}

void KeyedJobs::begin(const std::string& key) {
  {
    MutexLock lock(mutex_);
    Line& line = waiting_.at(key);
    const bool held = line.hold == Hold::kHeld;
    line.hold = held ? Hold::kNone : Hold::kResumed;
    if (!held) return;
  }
  drain(key);
}

void KeyedJobs::drain(const std::string& key) {
  bool more = true;
  while (more) {
    Entry entry = take(key);
    entry.job();
    const bool ended = !put_back(key, entry);
    entry.job = nullptr;
    more = go_on(key, Hold::kNone);
    if (ended && entry.afterwards) entry.afterwards();
  }
}

KeyedJobs::Entry KeyedJobs::take(const std::string& key) {
  MutexLock lock(mutex_);
  std::deque<Entry>& entries = waiting_.at(key).entries;
  Entry entry = std::move(entries.front());
  entries.pop_front();
  return entry;
}

bool KeyedJobs::put_back(const std::string& key, Entry& entry) {
  MutexLock lock(mutex_);
  Line& line = waiting_.at(key);
  if (line.hold == Hold::kNone) return false;
  line.entries.push_front(std::move(entry));
  return true;
}

bool KeyedJobs::go_on(const std::string& key, Hold next) {
  MutexLock lock(mutex_);
  Line& line = waiting_.at(key);
  while (!line.between.empty()) {
    Job job = std::move(line.between.front());
    line.between.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
  }
  if (line.hold == Hold::kAsked) {
    line.hold = Hold::kHeld;
    return false;
  }
  line.hold = next;
  const bool more = !line.entries.empty();
  if (!more) waiting_.erase(key);
  return more;
}

}  // namespace proa::lifecycle
