#pragma once

#include "loadgen/run_result.h"

namespace proa::loadgen {

// Runs as the generator would hand them over, made by hand: 1, 2 and 4 in flight against a server
// with statistics that batches. Latencies of a level are spread evenly over 0.9..1.1 of its mean.
RunResult closed_loop_run();

// The same with each window's figures multiplied, as if the server had changed.
RunResult scaled_run(double throughput, double latency);

// One open-loop level that the generator could not keep up with.
RunResult saturated_run();

}  // namespace proa::loadgen
