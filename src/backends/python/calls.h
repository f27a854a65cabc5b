#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "backends/python/lending.h"
#include "base/cancellation.h"
#include "base/mutex.h"
#include "config/model_config.h"
#include "core/custom_metrics.h"
#include "core/model_access.h"
#include "core/request.h"

namespace proa::backends::python {

// What a worker asks of the server: requests to other models (BLS), loads and unloads, metrics. A
// request goes into its model's queue like a client's, one deeper than the deepest that the worker
// has; its answers go back to the worker as they come.
//
//   kCall    call:u64 what:u32 0:u32, then
//     infer      correlation:u64 timeout_us:u64 flags:u32 priority:u32 outputs:u32 inputs:u32,
//                strings: model, version, id, correlation; parameters; outputs x string; zeros up
//                to a multiple of 8; inputs x tensor (kByName)
//     load       name:string configuration:string files:u32, each: path:string content:string
//     unload     name:string dependents:string
//     is ready   name:string version:string
//     cancel     call:u64
//     metric     metric
//   kAnswer  call:u64 value:u64 flags:u32 code:u32 outputs:u32 0:u32, then as kResponses from
//            `error` on, tensors kByName. value: whether it is ready; the metric's f64; 1 = only
//            ends a request of a decoupled model
//   kMetric  metric change:u8 value:f64
//   metric   kind:u8 labels:u32 family:string description:string, each label: name:string
//            value:string; buckets:u32, each f64
//
// Life: by shared_ptr; the answers of requests hold it weakly. Threading: take() by the thread that
// hears the worker; answers come on any.
class Calls : public std::enable_shared_from_this<Calls> {
 public:
  struct Options {
    const config::ModelConfig* config = nullptr;
    core::ModelAccess* models = nullptr;
    std::shared_ptr<core::CustomMetrics::Owner> metrics;
    const Clock* clock = nullptr;
  };
  Calls(Options options, std::shared_ptr<Lending> lending)
      : options_(std::move(options)), lending_(std::move(lending)) {}

  // Errors: kInternal for what a worker must not send. What a call asks and does not get is an
  // answer to the worker.
  Status take(Incoming& message, int depth) PROA_EXCLUDES(mutex_);
  Status take_metric(Incoming& message);

  // Nobody waits for the answers any more.
  void cancel_all() PROA_EXCLUDES(mutex_);

 private:
  class Sink;
  enum class What : std::uint32_t { kInfer, kLoad, kUnload, kIsReady, kCancel, kMetric };

  Status infer(std::uint64_t call, Incoming& message, int depth) PROA_EXCLUDES(mutex_);
  Status load(std::uint64_t call, WireReader& reader);
  Status unload(WireReader& reader);
  Result<std::uint64_t> metric(WireReader& reader);
  void cancel(std::uint64_t call) PROA_EXCLUDES(mutex_);
  void forget(std::uint64_t call) PROA_EXCLUDES(mutex_);
  Result<core::ModelAccess*> models() const;
  // The end of a call that is no request.
  void answer(std::uint64_t call, const Status& status, std::uint64_t value = 0);

  const Options options_;
  const std::shared_ptr<Lending> lending_;
  Mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<CancellationToken>> running_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::backends::python
