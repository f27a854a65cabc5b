#pragma once

#include <string_view>

#include "base/result.h"
#include "lifecycle/load_request.h"
#include "proto/grpc_service.pb.h"

namespace proa::frontends {

// The model repository extension's requests, checked. Source: Triton's model repository extension.

// What a load request asks for: `config` (a string) and `file:PATH` (bytes), which needs `config`.
// Errors: kInvalidArgument for other parameters and types; kUnimplemented for a repository's name.
Result<lifecycle::LoadRequest> to_load_request(inference::RepositoryModelLoadRequest request);

// Whether `unload_dependents` (a boolean) asks for the steps of an ensemble too.
// Errors: as to_load_request().
Result<bool> unloads_dependents(const inference::RepositoryModelUnloadRequest& request);

// Parses the JSON body of a load or unload request into `message`, whose model is set. In JSON the
// bytes of a file are base64. Errors: kInvalidArgument.
Status read_repository_body(std::string_view body, inference::RepositoryModelLoadRequest& message);
Status read_repository_body(std::string_view body,
                            inference::RepositoryModelUnloadRequest& message);

// 'repository_name' cannot be told apart: kUnimplemented unless it is empty.
Status check_repository_name(std::string_view name);

}  // namespace proa::frontends
