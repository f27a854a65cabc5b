#include "serve.h"

#include <unistd.h>
#include <csignal>

#include <atomic>

#include "base/log.h"
#include "server.h"

namespace proa {
namespace {

// The signals that end the server, kept from all threads but the one that waits for them.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigaddset(&set_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }

  int wait() {
    int signal = 0;
    sigwait(&set_, &signal);
    return signal;
  }

  // From now on they end the process in the ordinary way.
  void release() { pthread_sigmask(SIG_UNBLOCK, &set_, nullptr); }

 private:
  sigset_t set_;
};

// Says what becomes of flags that do not work; false when the server must not start with them.
bool flags_are_fine(const ServeOptions& options) {
  const FlagVerdict verdict = judge(options.unused);
  for (const auto* lines :
       {&options.deprecated, &options.backend_config.warnings, &verdict.warnings}) {
    for (const std::string& line : *lines) log::warn("{}", line);
  }
  for (const std::string& line : verdict.errors) log::error("{}", line);
  return verdict.errors.empty();
}

}  // namespace

int run_serve(const ServeOptions& options) {
  if (const Status logging = log::configure(options.log); !logging) {
    log::error("--log-file: {}", logging.error().message);
    return 2;
  }
  if (!flags_are_fine(options)) return 2;
  if (options.model_repositories.empty()) {
    log::error("--model-repository is required: the folder that holds one folder a model");
    return 2;
  }
  if (const Status flags = options.repository.check(); !flags) {
    log::error("{}", flags.error().message);
    return 2;
  }
  if (const std::string idle = options.repository.warning(); !idle.empty()) log::warn("{}", idle);
  std::signal(SIGPIPE, SIG_IGN);  // a reader of the log that is gone must not end the server
  EndSignals signals;
  std::atomic<bool> load_failed = false, stopping = false;
  Server server(options, [&](const lifecycle::LoadSummary& summary) {
    log::info("{} model(s) ready, {} failed", summary.ready, summary.failed.size());
    if (summary.failed.empty() || !options.exit_on_error || stopping) return;
    load_failed = true;
    kill(getpid(), SIGTERM);
  });
  if (const Status started = server.start(); !started) {
    log::error("{}", started.error().message);
    return 1;
  }
  const int signal = signals.wait();
  if (load_failed) {
    log::error("Stopping because of --exit-on-error: a model could not be loaded");
  } else {
    log::info("{}: stopping; requests in flight have {} s, a second signal ends at once",
              signal == SIGINT ? "SIGINT" : "SIGTERM", options.exit_timeout_s);
  }
  stopping = true;  // a model that fails now ends nothing
  signals.release();
  const bool clean = server.stop(std::chrono::seconds(options.exit_timeout_s));
  if (clean) log::info("Stopped, all requests answered");
  return clean && !load_failed ? 0 : 1;
}

}  // namespace proa
