#include "lifecycle/poll_policy.h"

#include <set>
#include <type_traits>
#include <utility>

namespace proa::lifecycle {
namespace {

bool same(const ModelLook* a, const ModelLook* b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

template <class Looks>
const ModelLook* find(const Looks& looks, const std::string& name, const ModelLook* otherwise) {
  const auto found = looks.find(name);
  if (found == looks.end()) return otherwise;
  if constexpr (std::is_same_v<typename Looks::mapped_type, ModelLook>) {
    return &found->second;
  } else {
    return found->second ? &*found->second : nullptr;
  }
}

}  // namespace

PollAction decide(const ModelLook* loaded, const ModelLook* before, const ModelLook* now) {
  if (same(now, loaded)) return PollAction::kNothing;
  if (!same(now, before)) return PollAction::kLookAgain;
  return now == nullptr ? PollAction::kUnload : PollAction::kLoad;
}

PollPolicy::Actions PollPolicy::step(Looks now, const std::map<std::string, ModelLook>& loaded,
                                     const std::set<std::string>& busy) {
  std::set<std::string> names;
  for (const auto& item : loaded) names.insert(item.first);
  for (const auto& item : before_) names.insert(item.first);
  for (const auto& item : now) names.insert(item.first);
  Actions actions;
  for (const std::string& name : names) {
    const auto seen = now.find(name);
    if (seen != now.end() && !seen->second) continue;
    const ModelLook* look = seen == now.end() ? nullptr : &*seen->second;
    const ModelLook* from = find(loaded, name, nullptr);
    switch (decide(from, find(before_, name, from), look)) {
      case PollAction::kNothing:
        break;
      case PollAction::kLookAgain:
        actions.look_again = true;
        break;
      case PollAction::kLoad:
        if (!busy.contains(name)) actions.load.push_back(name);
        break;
      case PollAction::kUnload:
        if (!busy.contains(name)) actions.unload.push_back(name);
        break;
    }
    if (look != nullptr) {
      before_[name] = std::move(seen->second);
    } else if (from != nullptr) {
      before_[name] = std::nullopt;
    } else {
      before_.erase(name);
    }
  }
  return actions;
}

}  // namespace proa::lifecycle
