#include "frontends/repository_requests.h"

#include <string>
#include <utility>

#include "base/log.h"
#include "proto/base64.h"
#include "protocol/repository_json.h"

namespace proa::frontends {
namespace {

constexpr std::string_view kConfig = "config";
constexpr std::string_view kFilePrefix = "file:";
constexpr std::string_view kUnloadDependents = "unload_dependents";

using inference::ModelRepositoryParameter;

Error wrong_type(std::string_view name, std::string_view wanted) {
  return error::invalid_argument("parameter '{}' must be {}", log::printable(name), wanted);
}

Error unknown_parameter(std::string_view name, std::string_view known) {
  return error::invalid_argument("unrecognized parameter '{}': known are {}", log::printable(name),
                                 known);
}

// Base64 where JSON carries bytes.
Status set_value(protocol::RepositoryParameter&& from, ModelRepositoryParameter& to) {
  if (const bool* flag = std::get_if<bool>(&from.value)) {
    to.set_bool_param(*flag);
  } else if (const auto* number = std::get_if<std::int64_t>(&from.value)) {
    to.set_int64_param(*number);
  } else if (from.name.starts_with(kFilePrefix)) {
    auto bytes = proto::from_base64(std::get<std::string>(from.value));
    if (!bytes) return wrong_type(from.name, "the file's content in base64");
    to.set_bytes_param(*std::move(bytes));
  } else {
    to.set_string_param(std::move(std::get<std::string>(from.value)));
  }
  return {};
}

template <class Message>
Status read_body(std::string_view body, Message& message) {
  PROA_ASSIGN(auto parameters, protocol::read_repository_parameters(body));
  for (protocol::RepositoryParameter& parameter : parameters) {
    auto& value = (*message.mutable_parameters())[parameter.name];
    PROA_TRY(set_value(std::move(parameter), value));
  }
  return {};
}

}  // namespace

Status check_repository_name(std::string_view name) {
  if (name.empty()) return {};
  return error::unimplemented(
      "'repository_name' specification is not supported: leave it out, all repositories are one");
}

Status read_repository_body(std::string_view body, inference::RepositoryModelLoadRequest& message) {
  return read_body(body, message);
}

Status read_repository_body(std::string_view body,
                            inference::RepositoryModelUnloadRequest& message) {
  return read_body(body, message);
}

Result<lifecycle::LoadRequest> to_load_request(inference::RepositoryModelLoadRequest request) {
  PROA_TRY(check_repository_name(request.repository_name()));
  lifecycle::LoadRequest load;
  for (auto& [name, value] : *request.mutable_parameters()) {
    if (name == kConfig) {
      if (!value.has_string_param()) return wrong_type(name, "a string with JSON in it");
      load.config_json = std::move(*value.mutable_string_param());
    } else if (name.starts_with(kFilePrefix)) {
      if (!value.has_bytes_param()) return wrong_type(name, "the file's content as bytes");
      load.files.push_back(
          {name.substr(kFilePrefix.size()), std::move(*value.mutable_bytes_param())});
    } else {
      return unknown_parameter(name, "'config' and 'file:PATH'");
    }
  }
  if (!load.files.empty() && !load.config_json) {
    return error::invalid_argument(
        "parameter 'file:{}' needs 'config' beside it: the files replace the whole model folder",
        log::printable(load.files.front().path));
  }
  return load;
}

Result<bool> unloads_dependents(const inference::RepositoryModelUnloadRequest& request) {
  PROA_TRY(check_repository_name(request.repository_name()));
  bool dependents = false;
  for (const auto& [name, value] : request.parameters()) {
    if (name != kUnloadDependents) return unknown_parameter(name, "'unload_dependents'");
    if (!value.has_bool_param()) return wrong_type(name, "a boolean");
    dependents = value.bool_param();
  }
  return dependents;
}

}  // namespace proa::frontends
