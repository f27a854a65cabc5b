#include "local_repository.h"

#include <future>

namespace proa {
namespace {

constexpr std::chrono::seconds kStopLimit{10};

lifecycle::ModelRepository::Options options_of(const std::filesystem::path& folder,
                                               const backends::BackendList& backends, Timer& timer,
                                               core::Reaper& reaper) {
  lifecycle::ModelRepository::Options options;
  options.folders = {folder};
  options.loader.backends = [&backends](std::string_view name) { return backends.find(name); };
  options.loader.model = {.timer = &timer, .reaper = &reaper};
  options.mode = lifecycle::ControlMode::kExplicit;
  return options;
}

}  // namespace

LocalRepository::LocalRepository(const std::filesystem::path& folder)
    : backends_({.timer = &timer_}), repository_(options_of(folder, backends_, timer_, reaper_)) {}

LocalRepository::~LocalRepository() {
  repository_.shut_down(steady_clock().now() + kStopLimit);
  repository_.wait_for_loads();
}

Result<std::shared_ptr<core::Model>> LocalRepository::load(const std::string& name) {
  PROA_TRY(repository_.start());
  std::promise<Status> promise;
  std::future<Status> loaded = promise.get_future();
  repository_.load(name, {}, [&promise](Status status) { promise.set_value(std::move(status)); });
  PROA_TRY(loaded.get());
  return repository_.find(name, "");
}

}  // namespace proa
