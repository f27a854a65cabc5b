#pragma once

#include <optional>
#include <string>

#include "frontends/control_service.h"
#include "frontends/grpc/grpc_call.h"
#include "frontends/shutdown_signal.h"

namespace proa::frontends {

// grpc.health.v1.Health/Watch: the status at once, then at each change, until the client goes or
// the server stops. Looks every ServerOptions::health_watch_interval.
class HealthWatchCall final : public GrpcCall {
 public:
  HealthWatchCall(const FrontendContext& context, const ControlService& service,
                  ShutdownSignal& shutdown)
      : GrpcCall(context, kControlMessageBytes), service_(service), shutdown_(shutdown) {}

 protected:
  Status on_message(Message message) override;
  Status on_half_close() override;
  void on_gone() override;

 private:
  void look();
  void look_again_later();

  const ControlService& service_;
  ShutdownSignal& shutdown_;
  ShutdownSignal::Id shutdown_id_ = 0;
  std::optional<std::string> watched_;
  std::optional<int> sent_;  // the last status
  std::optional<Timer::Id> timer_;
};

}  // namespace proa::frontends
