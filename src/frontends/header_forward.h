#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "base/parameter.h"
#include "base/result.h"
#include "net/exchange.h"

namespace re2 {
class RE2;
}

namespace proa::frontends {

// Which headers of a request (or metadata of a gRPC call) become string parameters of its
// inference requests: those whose name holds a match of a regular expression, whatever its case.
// A parameter has the name as the client wrote it; over HTTP/2 all are in lower case. Source:
// Triton's --http-header-forward-pattern and its gRPC sibling. Threading: immutable.
class HeaderForward {
 public:
  // Forwards nothing.
  HeaderForward() = default;
  // Errors: kInvalidArgument when `pattern` is not RE2's syntax. "" forwards nothing.
  static Result<HeaderForward> compile(std::string_view pattern);

  // The parameters that `headers` become; of equal names the last. What belongs to the transport
  // (names that begin with ':' or "grpc-", "te", and "-bin" metadata) is left out.
  // Errors: kInvalidArgument for a header with the name of a parameter that means something.
  Result<Parameters> collect(std::span<const net::Header> headers) const;

 private:
  std::shared_ptr<const re2::RE2> pattern_;
};

// Puts `forwarded` over the parameters that the request's own body has: a proxy in front decides.
void add_forwarded(const Parameters& forwarded, Parameters& parameters);

}  // namespace proa::frontends
