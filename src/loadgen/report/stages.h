#pragma once

#include "loadgen/run_result.h"
#include "proto/bench_report.pb.h"

namespace proa::loadgen {

// Where a pass's mean latency went: the client's times with the server's statistics laid beside
// them. Of several models under load the server's times are means over all their requests. An
// ensemble's queue and compute times are those of its steps, added up for each of its requests.
// What the server did not account for cannot be less than nothing; it is cut at 0.
bench::Stages make_stages(const Pass& pass);

// Executions by batch size, of all models that batch (an ensemble itself does not).
std::vector<ServerModelStatistics::BatchSize> batch_sizes(const Pass& pass);

}  // namespace proa::loadgen
