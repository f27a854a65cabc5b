#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench_options.h"
#include "loadgen/clients/client.h"
#include "loadgen/control/control.h"
#include "loadgen/payloads.h"
#include "loadgen/run/server_statistics.h"
#include "loadgen/run_result.h"
#include "local_runtime.h"

namespace proa {

// What `proa bench` puts under load, opened: its models, what will be sent to them, and the way to
// it. Addresses of its members are handed out, so it stays where it is.
struct BenchTarget {
  BenchTarget() = default;
  BenchTarget(const BenchTarget&) = delete;

  std::unique_ptr<LocalRuntime> runtime;  // --engine
  loadgen::Address address;               // else
  loadgen::Address metrics_address;
  std::unique_ptr<loadgen::ControlChannel> control;
  std::vector<loadgen::ModelDescription> models;
  std::vector<double> weights;
  std::vector<loadgen::PayloadSet> payloads;  // by model
  std::unique_ptr<loadgen::Target> target;
  std::unique_ptr<loadgen::StatisticsSource> statistics;  // null: the server has none

  std::vector<const loadgen::PayloadSet*> sets() const;
};

// Asks the server about the models (or loads the one of --engine, while the process has one
// thread), makes their requests, encodes them. Says in `result` what is under load.
// Errors: the server's or the model file's; kInvalidArgument for data that do not suit a model.
Result<std::unique_ptr<BenchTarget>> open_bench_target(const BenchOptions& options,
                                                       loadgen::RunResult& result);

}  // namespace proa
