#pragma once

#include "frontends/grpc/grpc_call.h"
#include "proto/reflection_v1.pb.h"

namespace proa::frontends {

// One answer of gRPC server reflection, from the descriptors compiled into the program. The
// messages of v1alpha have the same bytes as those of v1.
// Threading: any.
grpc::reflection::v1::ServerReflectionResponse reflect(
    const grpc::reflection::v1::ServerReflectionRequest& request);

// ServerReflectionInfo, v1 and v1alpha: a stream with one answer to each request.
class ReflectionCall final : public GrpcCall {
 public:
  explicit ReflectionCall(const FrontendContext& context)
      : GrpcCall(context, kControlMessageBytes) {}

  // With so much of its answers not taken, a client is told to go.
  static constexpr std::size_t kMaxUnsentBytes = 256 * 1024;

 protected:
  Status on_message(Message message) override;
  Status on_half_close() override;

 private:
  core::MemoryBudget::Reservation unsent_memory_;
};

}  // namespace proa::frontends
