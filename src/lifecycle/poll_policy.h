#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lifecycle/model_look.h"

namespace proa::lifecycle {

// What poll mode does about one model.
enum class PollAction : std::uint8_t {
  kNothing,
  kLookAgain,  // something has changed and may be changing still
  kLoad,
  kUnload,
};

// Decides from the files that the model's last load began from (null: it is not loaded), and from
// how they looked last time and look now (null: there is no such model). A change counts once two
// looks in a row agree: so folders that are being copied or swapped are left alone until they are
// whole.
PollAction decide(const ModelLook* loaded, const ModelLook* before, const ModelLook* now);

// Remembers the last look at every model.
// Threading: confined to its owner.
class PollPolicy {
 public:
  // Of each model; none = it could not be looked at just now, which changes nothing.
  using Looks = std::map<std::string, std::optional<ModelLook>>;

  struct Actions {
    std::vector<std::string> load;
    std::vector<std::string> unload;
    bool look_again = false;  // soon
  };

  // `loaded` are the models that have been loaded or tried, with what that began from; `busy` those
  // that have a load or unload that has not ended, as of before: nothing more is asked for them.
  Actions step(Looks now, const std::map<std::string, ModelLook>& loaded,
               const std::set<std::string>& busy);

 private:
  Looks before_;  // none = it was not there; no entry = not looked at yet, so as it was loaded
};

}  // namespace proa::lifecycle
