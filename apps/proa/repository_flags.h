#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "lifecycle/model_repository.h"

namespace CLI {
class App;
}

namespace proa {

// Which models `proa serve` loads and when, as its flags say.
struct RepositoryFlags {
  lifecycle::ControlMode mode = lifecycle::ControlMode::kNone;
  int poll_s = 15;
  std::vector<std::string> load_models;
  std::string config_name;
  int load_retries = 0;
  bool poll_given = false;  // --repository-poll-secs

  // Errors: kInvalidArgument for flags that contradict each other, naming both.
  Status check() const;
  // What has no effect beside the other flags; "" = everything has.
  std::string warning() const;
};

void add_repository_flags(CLI::App& app, RepositoryFlags& flags);

}  // namespace proa
