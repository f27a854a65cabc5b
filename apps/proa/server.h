#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "backends/list.h"
#include "base/result.h"
#include "base/timer.h"
#include "core/custom_metrics.h"
#include "core/memory_budget.h"
#include "core/reaper.h"
#include "frontends/frontend.h"
#include "lifecycle/model_repository.h"
#include "net/loop_group.h"
#include "observe/gpu_monitor.h"
#include "observe/metrics.h"
#include "repository_access.h"
#include "serve_options.h"

namespace proa {

// A whole server in one object: this is where the rooms are put together.
// Threading: start() and stop() by one thread; `on_loaded` comes on a load thread.
class Server {
 public:
  using OnLoaded = std::function<void(const lifecycle::LoadSummary&)>;

  Server(const ServeOptions& options, OnLoaded on_loaded);
  // Ports that a failed start() had opened are closed before what they lead to goes.
  ~Server();

  // Opens the ports and begins to load the models; returns without waiting for them.
  // Errors: a port that is taken, a repository that cannot be read.
  Status start();

  // Stops taking requests and lets those in flight end; after `timeout` they are cut. True when all
  // ended by themselves.
  bool stop(std::chrono::seconds timeout);

 private:
  frontends::FrontendContext frontend_context();
  lifecycle::ModelRepository::Options repository_options(OnLoaded on_loaded);
  // A service and where it is to be found; what is to share a port.
  struct Port {
    std::string name;
    const Endpoint* endpoint;
    frontends::Services services;
  };
  std::string address_of(const Endpoint& endpoint) const;
  std::vector<Port> ports() const;
  Status listen(const Port& port);
  std::string render_metrics();

  const ServeOptions options_;
  core::MemoryBudget budget_;
  const std::shared_ptr<SharedMemory> shared_memory_ = SharedMemory::create();
  observe::Metrics metrics_;
  const std::shared_ptr<core::CustomMetrics> custom_metrics_ = core::CustomMetrics::create();
  std::once_flag gpu_monitor_made_;  // when metrics are first asked for
  std::optional<observe::GpuMonitor> gpu_monitor_;
  frontends::Frontend frontend_;  // outlives the loops that call it
  net::LoopGroup loops_;          // outlives the models that answer into it
  TimerThread timer_;
  RepositoryAccess access_;         // models use it as long as they live
  backends::BackendList backends_;  // outlives the models, the last of which the reaper ends
  core::Reaper reaper_;
  lifecycle::ModelRepository repository_;
  std::atomic<bool> stop_sweeping_ = false;
  std::thread sweeper_;  // removes temporary folders of killed servers
};

}  // namespace proa
