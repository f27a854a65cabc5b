#pragma once

#include <vector>

#include "base/result.h"
#include "loadgen/run_result.h"

namespace proa::loadgen {

// What a server counts, all since its start.
struct ServerSnapshot {
  std::vector<ServerModelStatistics> models;  // those under load, and their composing models
  std::vector<ServerMetric> metrics;          // `after` is the value; `before` is unused
};

// Where snapshots come from.
// Threading: confined to one thread; read() blocks for an answer of the server.
class StatisticsSource {
 public:
  virtual ~StatisticsSource() = default;
  // Errors: the server has no statistics, or does not answer.
  virtual Result<ServerSnapshot> read() = 0;
};

// What happened between two snapshots. Models that only one of them knows, and counters that fell
// (the server was restarted in between), are left out.
std::vector<ServerModelStatistics> difference(const ServerSnapshot& before,
                                              const ServerSnapshot& after);
std::vector<ServerMetric> side_by_side(const ServerSnapshot& before, const ServerSnapshot& after);

}  // namespace proa::loadgen
