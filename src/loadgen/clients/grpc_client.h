#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "loadgen/clients/address.h"
#include "loadgen/clients/client.h"

namespace proa::loadgen {

struct GrpcTargetOptions {
  bool stream = false;                // ModelStreamInfer instead of ModelInfer
  std::vector<std::string> metadata;  // "name: value", with every call
  // Requests in flight that share a connection; Triton's C++ client has the same default.
  std::size_t calls_per_connection = 6;
  std::size_t max_connections = 500;  // of each worker
  double tolerance = kDefaultTolerance;
};

// A KServe v2 server over gRPC. Unary: a call a request. Stream: each request in flight has a
// ModelStreamInfer call of its own, which the next one reuses; an answer is complete with its first
// response, or for a decoupled model with the one that says that it is the last.
// `payloads`, one set a model, are encoded here and must outlive the target.
// Errors: kInvalidArgument for payloads that cannot be encoded.
Result<std::unique_ptr<Target>> make_grpc_target(const Address& address,
                                                 const std::vector<const PayloadSet*>& payloads,
                                                 const GrpcTargetOptions& options);

}  // namespace proa::loadgen
