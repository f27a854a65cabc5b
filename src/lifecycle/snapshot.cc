#include "lifecycle/snapshot.h"

#include <algorithm>

#include "base/log.h"
#include "storage/version_folders.h"

namespace proa::lifecycle {
namespace {

std::string because(std::string_view reason) {
  return reason.empty() ? std::string() : fmt::format(": {}", reason);
}

// No version of the model is ready.
Error nothing_ready(std::string_view name, const ModelView& view) {
  if (view.versions.empty() && view.state == VersionState::kLoading) {
    return error::unavailable(
        "Request for unknown model: '{}' has no available versions: it is "
        "being loaded, try again soon",
        name);
  }
  const std::string& reason = view.versions.empty() ? view.reason : view.versions.back().reason;
  return error::unavailable("Request for unknown model: '{}' has no available versions{}", name,
                            because(reason));
}

Error version_not_ready(std::string_view name, const ModelView::Version& version) {
  const std::string reason =
      version.reason.empty() ? std::string(version_state_name(version.state)) : version.reason;
  return error::unavailable("Request for unknown model: '{}' version {} is not at ready state: {}",
                            name, version.number, reason);
}

Result<std::shared_ptr<core::Model>> find_version(std::string_view name, const ModelView& view,
                                                  std::string_view text) {
  const std::optional<std::int64_t> number = storage::parse_version(text);
  if (!number) {
    return error::invalid_argument(
        "model '{}': '{}' is no version: a version is a whole number such as 1, and leaving it out "
        "means the latest",
        name, log::printable(text.substr(0, 64)));
  }
  const auto version =
      std::ranges::lower_bound(view.versions, *number, {}, &ModelView::Version::number);
  if (version == view.versions.end() || version->number != *number) {
    if (view.versions.empty()) return nothing_ready(name, view);
    return error::not_found("Request for unknown model: '{}' version {} is not found", name,
                            *number);
  }
  if (std::shared_ptr<core::Model> model = version->model.lock()) return model;
  return version_not_ready(name, *version);
}

}  // namespace

std::string_view version_state_name(VersionState state) {
  switch (state) {
    case VersionState::kUnknown:
      return "UNKNOWN";
    case VersionState::kLoading:
      return "LOADING";
    case VersionState::kReady:
      return "READY";
    case VersionState::kUnloading:
      return "UNLOADING";
    case VersionState::kUnavailable:
      break;
  }
  return "UNAVAILABLE";
}

const ModelView* Snapshot::find_view(std::string_view name) const {
  const auto found = views_.find(name);
  return found == views_.end() ? nullptr : found->second.get();
}

Result<std::shared_ptr<core::Model>> Snapshot::find(std::string_view name,
                                                    std::string_view version) const {
  const ModelView* view = find_view(name);
  if (view == nullptr) {
    return error::not_found("Request for unknown model: '{}' is not found",
                            log::printable(name.substr(0, 256)));
  }
  if (!version.empty()) return find_version(name, *view, version);
  if (view->latest >= 0) {
    if (std::shared_ptr<core::Model> model = view->versions[view->latest].model.lock())
      return model;
  }
  return nothing_ready(name, *view);
}

}  // namespace proa::lifecycle
