#include "lifecycle/repository_watch.h"

#include <sys/stat.h>

#include "base/log.h"

namespace proa::lifecycle {

RepositoryWatch::RepositoryWatch(std::span<const storage::LocalFolder> repositories) {
  for (const storage::LocalFolder& repository : repositories) {
    const auto names = repository.list_models();
    if (names) is_lost(repository, !names->empty());
  }
}

std::optional<PollPolicy::Looks> RepositoryWatch::look(
    std::span<const storage::LocalFolder> repositories) {
  told_ = std::exchange(troubles_, {});
  const auto names = list(repositories);
  if (!names) return std::nullopt;
  PollPolicy::Looks looks;
  for (const std::string& name : *names) {
    auto look = look_at(repositories, name);
    if (look) {
      looks.emplace(name, *std::move(look));
    } else if (look.error().code != ErrorCode::kNotFound) {
      tell(fmt::format("model '{}': {}", log::printable(name), look.error().message));
      looks.emplace(name, std::nullopt);
    }
  }
  return looks;
}

std::optional<std::set<std::string>> RepositoryWatch::list(
    std::span<const storage::LocalFolder> repositories) {
  std::set<std::string> names;
  for (const storage::LocalFolder& repository : repositories) {
    const auto found = repository.list_models();
    if (!found) {
      tell(fmt::format("model repository: {}; models stay as they are", found.error().message));
      return std::nullopt;
    }
    if (is_lost(repository, !found->empty())) {
      tell(
          fmt::format("model repository: '{}' is another folder now, without any model; is its "
                      "volume mounted? Models stay as they are until there is one in it",
                      log::printable(repository.root().native())));
      return std::nullopt;
    }
    names.insert(found->begin(), found->end());
  }
  return names;
}

bool RepositoryWatch::is_lost(const storage::LocalFolder& repository, bool has_models) {
  const std::string& root = repository.root().native();
  struct stat info{};
  if (::stat(root.c_str(), &info) != 0) return true;
  const Place here(info.st_dev, info.st_ino);
  if (has_models) held_models_[root] = here;
  const auto before = held_models_.find(root);
  return before != held_models_.end() && before->second != here;
}

void RepositoryWatch::tell(const std::string& trouble) {
  if (!told_.contains(trouble)) log::warn("{}", trouble);
  troubles_.insert(trouble);
}

}  // namespace proa::lifecycle
