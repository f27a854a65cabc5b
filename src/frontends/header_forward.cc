#include "frontends/header_forward.h"

#include <string>

#include "protocol/parameters.h"
#include "re2/re2.h"

namespace proa::frontends {
namespace {

bool of_the_transport(std::string_view name) {
  return name.starts_with(':') || name.starts_with("grpc-") || name == "te" ||
         name.ends_with("-bin");
}

}  // namespace

Result<HeaderForward> HeaderForward::compile(std::string_view pattern) {
  HeaderForward forward;
  if (pattern.empty()) return forward;
  re2::RE2::Options options;
  options.set_case_sensitive(false);
  options.set_log_errors(false);
  auto compiled =
      std::make_shared<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!compiled->ok()) {
    return error::invalid_argument("'{}' is not a regular expression: {}", pattern,
                                   compiled->error());
  }
  forward.pattern_ = std::move(compiled);
  return forward;
}

Result<Parameters> HeaderForward::collect(std::span<const net::Header> headers) const {
  Parameters parameters;
  if (pattern_ == nullptr) return parameters;
  for (const net::Header& header : headers) {
    const re2::StringPiece name(header.name.data(), header.name.size());
    if (of_the_transport(header.name) || !re2::RE2::PartialMatch(name, *pattern_)) continue;
    if (protocol::is_reserved_parameter(header.name)) {
      return error::invalid_argument(
          "header '{}' would be forwarded to the model, but a parameter of that name has a meaning "
          "of its own: send it in the request's parameters",
          header.name);
    }
    protocol::set_parameter(parameters, header.spelled.empty() ? header.name : header.spelled,
                            std::string(header.value));
  }
  return parameters;
}

void add_forwarded(const Parameters& forwarded, Parameters& parameters) {
  for (const Parameter& parameter : forwarded) {
    protocol::set_parameter(parameters, parameter.name, parameter.value);
  }
}

}  // namespace proa::frontends
