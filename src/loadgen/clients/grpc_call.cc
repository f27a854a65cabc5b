#include "loadgen/clients/grpc_call.h"

#include <algorithm>
#include <array>

#include "fmt/format.h"

namespace proa::loadgen {
namespace {

constexpr std::size_t kFrameBytes = 5;

}  // namespace

std::string grpc_status_name(int status) {
  constexpr std::array<std::string_view, 17> kNames = {"OK",
                                                       "CANCELLED",
                                                       "UNKNOWN",
                                                       "INVALID_ARGUMENT",
                                                       "DEADLINE_EXCEEDED",
                                                       "NOT_FOUND",
                                                       "ALREADY_EXISTS",
                                                       "PERMISSION_DENIED",
                                                       "RESOURCE_EXHAUSTED",
                                                       "FAILED_PRECONDITION",
                                                       "ABORTED",
                                                       "OUT_OF_RANGE",
                                                       "UNIMPLEMENTED",
                                                       "INTERNAL",
                                                       "UNAVAILABLE",
                                                       "DATA_LOSS",
                                                       "UNAUTHENTICATED"};
  const auto index = static_cast<std::size_t>(status);
  return index < kNames.size() ? std::string(kNames[index]) : fmt::format("status {}", status);
}

std::string GrpcEnd::kind() const {
  if (!transport.empty()) return transport;
  return status < 0 ? "gRPC without status" : "gRPC " + grpc_status_name(status);
}

// False: the bytes are no gRPC messages.
bool GrpcCall::take_data(std::string_view bytes) {
  while (!bytes.empty()) {
    if (frame_.size() < kFrameBytes) {
      const std::size_t part = std::min(kFrameBytes - frame_.size(), bytes.size());
      frame_ += bytes.substr(0, part);
      bytes.remove_prefix(part);
      if (frame_.size() < kFrameBytes) return true;
      if (frame_[0] != 0) return false;  // compressed, which was not asked for
      left_ = 0;
      for (std::size_t i = 1; i < kFrameBytes; ++i) {
        left_ = left_ << 8 | static_cast<std::uint8_t>(frame_[i]);
      }
    }
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
    if (keep_messages) message_ += bytes.substr(0, part);
    bytes.remove_prefix(part);
    left_ -= part;
    if (left_ > 0) return true;
    frame_.clear();
    message(message_);
    message_.clear();
  }
  return true;
}

}  // namespace proa::loadgen
