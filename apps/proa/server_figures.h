#pragma once

#include <vector>

#include "core/memory_budget.h"
#include "lifecycle/model_repository.h"
#include "net/stats.h"
#include "observe/metrics.h"

namespace proa {

// What /metrics says of the server as a whole: its build, connections, memory of requests.
std::vector<observe::ServerFigure> server_figures(const net::NetStats& net,
                                                  const core::MemoryBudget& budget);

// What it says of the repository: whether the server is ready, and each model version.
std::vector<observe::ServerFigure> repository_figures(const lifecycle::ModelRepository& repository);

}  // namespace proa
