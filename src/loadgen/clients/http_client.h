#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "loadgen/clients/address.h"
#include "loadgen/clients/client.h"
#include "loadgen/clients/encode_http.h"

namespace proa::loadgen {

struct HttpTargetOptions {
  std::vector<std::string> headers;  // "Name: value"
  TensorFormat input = TensorFormat::kBinary;
  TensorFormat output = TensorFormat::kBinary;
  std::size_t max_connections = 2000;  // of each worker
  double tolerance = kDefaultTolerance;
};

// A KServe v2 server over HTTP/1.1: each request in flight has a connection of its own, which the
// next one reuses. Beyond max_connections requests wait for a free one, and are late.
// `payloads`, one set a model, are encoded here and must outlive the target.
// Errors: kInvalidArgument for payloads that cannot be encoded as asked.
Result<std::unique_ptr<Target>> make_http_target(const Address& address,
                                                 const std::vector<const PayloadSet*>& payloads,
                                                 const HttpTargetOptions& options);

}  // namespace proa::loadgen
