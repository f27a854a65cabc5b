#include "server.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "base/memory.h"
#include "base/temporary_folder.h"
#include "base/text.h"
#include "base/thread.h"
#include "free_memory.h"
#include "observe/gpu_figures.h"
#include "server_figures.h"
#include "storage/local_folder.h"

namespace proa {
namespace {

std::size_t budget_bytes(const ServeOptions& options) {
  return options.max_in_flight_bytes != 0 ? options.max_in_flight_bytes
                                          : available_memory_bytes() / 2;
}

}  // namespace

Server::Server(const ServeOptions& options, OnLoaded on_loaded)
    : options_(options),
      budget_(budget_bytes(options)),
      metrics_(options.metrics_options),
      frontend_(frontend_context()),
      loops_(net::LoopGroup::Options{.loops = options.loops}),
      access_(repository_),
      backends_(backends::Context{.timer = &timer_,
                                  .gpu_tuning_cache = options.gpu_tuning_cache,
                                  .gpu_memory_limits = options.gpu_memory_limits,
                                  .shared_memory = shared_memory_,
                                  .models = &access_,
                                  .metrics = custom_metrics_.get()}),
      reaper_(release_free_memory),
      repository_(repository_options(std::move(on_loaded))) {}

Server::~Server() {
  stop_sweeping_ = true;
  if (sweeper_.joinable()) sweeper_.join();
  loops_.drain(steady_clock().now());
  access_.close();
}

frontends::FrontendContext Server::frontend_context() {
  frontends::FrontendContext context;
  context.repository = &repository_;
  context.budget = &budget_;
  context.memory = shared_memory_.get();
  context.clock = &steady_clock();
  context.timer = &timer_;
  context.server_name = options_.server_id;
  context.server_version = PROA_VERSION;
  context.options.http_max_input_bytes = options_.http_max_input_bytes;
  context.options.grpc_max_message_bytes = options_.grpc_max_message_bytes;
  context.options.grpc_response_compression = options_.grpc_compression;
  context.options.http_header_forward = options_.http.header_forward;
  context.options.grpc_header_forward = options_.grpc.header_forward;
  context.options.metrics = [this] { return render_metrics(); };
  return context;
}

lifecycle::ModelRepository::Options Server::repository_options(OnLoaded on_loaded) {
  lifecycle::ModelRepository::Options options;
  options.folders = options_.model_repositories;
  options.loader.backends = [this](std::string_view name) { return backends_.find(name); };
  options.loader.model = {.timer = &timer_, .reaper = &reaper_};
  options.loader.completion.enabled = options_.auto_complete_config;
  options.loader.completion.gpu_models_on_cpu = options_.gpu_models_on_cpu;
  options.loader.completion.default_max_batch_size = options_.backend_config.default_max_batch_size;
  options.loader.config_name = options_.repository.config_name;
  options.mode = options_.repository.mode;
  options.startup_models = options_.repository.load_models;
  options.poll_interval = std::chrono::seconds(options_.repository.poll_s);
  options.load_threads = options_.model_load_threads;
  options.load_retries = options_.repository.load_retries;
  options.strict_readiness = options_.strict_readiness;
  options.on_loaded = std::move(on_loaded);
  return options;
}

std::string Server::address_of(const Endpoint& endpoint) const {
  return endpoint.address.empty() ? options_.http.address : endpoint.address;
}

// Services with the same address and port share one listener.
std::vector<Server::Port> Server::ports() const {
  std::vector<Port> result;
  for (const Port& wanted :
       {Port{"HTTP", &options_.http, {.rest = true}}, Port{"gRPC", &options_.grpc, {.grpc = true}},
        Port{"metrics", &options_.metrics, {.metrics = true}}}) {
    const Endpoint& endpoint = *wanted.endpoint;
    if (!endpoint.enabled) continue;
    const auto same = std::ranges::find_if(result, [&](const Port& port) {
      return endpoint.port != 0 && port.endpoint->port == endpoint.port &&
             address_of(*port.endpoint) == address_of(endpoint);
    });
    if (same == result.end()) {
      result.push_back(wanted);
    } else {
      same->name += " and " + wanted.name;
      same->services.grpc |= wanted.services.grpc;
      same->services.metrics |= wanted.services.metrics;
    }
  }
  return result;
}

Status Server::listen(const Port& port) {
  net::ListenerOptions options;
  options.name = port.name;
  options.flag = "--" + lower_case(port.name.substr(0, port.name.find(' '))) + "-port";
  options.address = address_of(*port.endpoint);
  options.port = port.endpoint->port;
  options.factory = frontend_.factory(port.services);
  options.expects_http2 = !port.services.rest && port.services.grpc;
  options.shared = port.endpoint->reuse_port;
  options.limits = options_.limits;
  options.limits.max_body_bytes =
      std::max<std::uint64_t>(options_.http_max_input_bytes, options_.grpc_max_message_bytes);
  PROA_ASSIGN(const net::Listener* listener, loops_.listen(std::move(options)));
  const bool v6 = listener->address().find(':') != std::string::npos;
  log::info("{} listening on {}{}{}:{}", port.name, v6 ? "[" : "", listener->address(),
            v6 ? "]" : "", listener->port());
  return {};
}

Status Server::start() {
  for (const auto& folder : options_.model_repositories) {
    const auto opened = storage::LocalFolder::open(folder);
    if (!opened) return with_context("--model-repository", opened.error());
  }
  for (const Port& port : ports()) PROA_TRY(listen(port));
  PROA_TRY(repository_.start());
  // Beside everything else: what a killed server left may be gigabytes.
  sweeper_ = start_thread("proa-sweep", [this] { TemporaryFolder::sweep(stop_sweeping_); });
  return {};
}

bool Server::stop(std::chrono::seconds timeout) {
  const TimePoint deadline = deadline_after(steady_clock().now(), timeout);
  frontend_.begin_shutdown();
  repository_.begin_shut_down();
  const std::size_t cut = loops_.drain(deadline);
  if (cut > 0) log::warn("{} connection(s) had to be cut after {} s", cut, timeout.count());
  const bool answered = repository_.shut_down(deadline);
  repository_.wait_for_loads();
  return answered && cut == 0;
}

std::string Server::render_metrics() {
  std::vector<observe::ServerFigure> figures = server_figures(loops_.stats(), budget_);
  std::ranges::move(repository_figures(repository_), std::back_inserter(figures));
  if (options_.metrics_options.gpu) {
    std::call_once(gpu_monitor_made_, [this] { gpu_monitor_.emplace(); });
    std::ranges::move(observe::gpu_figures(gpu_monitor_->read()), std::back_inserter(figures));
  }
  return metrics_.render(repository_.ready_models(), figures, custom_metrics_.get());
}

}  // namespace proa
