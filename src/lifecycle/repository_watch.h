#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "lifecycle/poll_policy.h"
#include "storage/local_folder.h"

namespace proa::lifecycle {

// What poll mode sees of the repositories, look by look. Trouble goes to the log when it begins,
// not at every look. Threading: confined to its owner; every call reads the disk.
class RepositoryWatch {
 public:
  // Models are being served from these.
  explicit RepositoryWatch(std::span<const storage::LocalFolder> repositories);

  // Nothing = models stay as they are: a repository cannot be listed just now, or it is another
  // folder than the one that held models and has none, as when its volume is not mounted any more.
  std::optional<PollPolicy::Looks> look(std::span<const storage::LocalFolder> repositories);

 private:
  using Place = std::pair<dev_t, ino_t>;

  std::optional<std::set<std::string>> list(std::span<const storage::LocalFolder> repositories);
  // Is it an empty folder where another one held models? Remembers those that hold some.
  bool is_lost(const storage::LocalFolder& repository, bool has_models);
  void tell(const std::string& trouble);

  std::map<std::string, Place> held_models_;  // by root: the folder that did last
  std::set<std::string> told_;                // troubles of the last look
  std::set<std::string> troubles_;            // of this one
};

}  // namespace proa::lifecycle
