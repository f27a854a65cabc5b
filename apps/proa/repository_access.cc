#include "repository_access.h"

#include <utility>

namespace proa {

RepositoryAccess::Use::Use(const RepositoryAccess& access) : access_(access) {
  MutexLock lock(access_.mutex_);
  open_ = !access_.closed_;
  if (open_) ++access_.users_;
}

RepositoryAccess::Use::~Use() {
  if (!open_) return;
  MutexLock lock(access_.mutex_);
  if (--access_.users_ == 0) access_.ended_.notify_all();
}

Status RepositoryAccess::Use::status() const {
  if (open_) return {};
  return error::unavailable("the server is shutting down");
}

void RepositoryAccess::close() {
  MutexLock lock(mutex_);
  closed_ = true;
  while (users_ > 0) ended_.wait(mutex_);
}

Result<std::shared_ptr<core::Model>> RepositoryAccess::find(std::string_view name,
                                                            std::string_view version) const {
  const Use use(*this);
  PROA_TRY(use.status());
  return repository_.find(name, version);
}

Status RepositoryAccess::ready(std::string_view name, std::string_view version) const {
  const Use use(*this);
  PROA_TRY(use.status());
  return repository_.model_ready(name, version);
}

Status RepositoryAccess::check_mode() const {
  if (repository_.mode() == lifecycle::ControlMode::kExplicit) return {};
  return error::unavailable(
      "a model may load and unload others only with --model-control-mode=explicit");
}

void RepositoryAccess::load(const std::string& name, std::string config_json,
                            std::vector<File> files, Done done) {
  const Use use(*this);
  Status allowed = use.status();
  if (allowed) allowed = check_mode();
  if (!allowed) return done(std::move(allowed));
  lifecycle::LoadRequest request;
  request.by_model = true;
  if (!config_json.empty()) request.config_json = std::move(config_json);
  for (File& file : files) {
    request.files.push_back({std::move(file.path), std::move(file.content)});
  }
  repository_.load(name, std::move(request), std::move(done));
}

Status RepositoryAccess::unload(const std::string& name, bool with_steps) {
  const Use use(*this);
  PROA_TRY(use.status());
  PROA_TRY(check_mode());
  return repository_.unload(name, with_steps);
}

}  // namespace proa
