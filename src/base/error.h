#pragma once

#include <string>
#include <string_view>

#include "fmt/core.h"

namespace proa {

// What kind of failure an Error is. The values are those of gRPC status codes, so that a front end
// can send them as they are; protocol/status_map.h holds the HTTP statuses.
// Source: https://grpc.github.io/grpc/core/md_doc_statuscodes.html
enum class ErrorCode : int {
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
};

// "INVALID_ARGUMENT" and so on.
std::string_view error_code_name(ErrorCode code);

// A failure for a person to read. The message names the model, tensor or file, what was wanted,
// what came, and how to mend it; it ends without a full stop only when it quotes somebody else's
// text. Threading: a plain value.
struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::kUnknown;
  std::string message;

  // "INVALID_ARGUMENT: message"
  std::string to_string() const;
};

// The same failure with "where: " in front of its message.
Error with_context(std::string_view where, Error error);

// error::invalid_argument("batch {} is too large", n) and its siblings.
namespace error {
#define PROA_ERROR_MAKER(name, value)                                                 \
  template <class... Args>                                                            \
  Error name(fmt::format_string<Args...> format, Args&&... args) {                    \
    return Error{ErrorCode::value, fmt::format(format, std::forward<Args>(args)...)}; \
  }
PROA_ERROR_MAKER(cancelled, kCancelled)
PROA_ERROR_MAKER(unknown, kUnknown)
PROA_ERROR_MAKER(invalid_argument, kInvalidArgument)
PROA_ERROR_MAKER(deadline_exceeded, kDeadlineExceeded)
PROA_ERROR_MAKER(not_found, kNotFound)
PROA_ERROR_MAKER(already_exists, kAlreadyExists)
PROA_ERROR_MAKER(permission_denied, kPermissionDenied)
PROA_ERROR_MAKER(resource_exhausted, kResourceExhausted)
PROA_ERROR_MAKER(failed_precondition, kFailedPrecondition)
PROA_ERROR_MAKER(unimplemented, kUnimplemented)
PROA_ERROR_MAKER(internal, kInternal)
PROA_ERROR_MAKER(unavailable, kUnavailable)
#undef PROA_ERROR_MAKER
}  // namespace error

}  // namespace proa
