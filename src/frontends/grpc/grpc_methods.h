#pragma once

#include <memory>
#include <string_view>

#include "frontends/control_service.h"
#include "frontends/shutdown_signal.h"
#include "net/exchange.h"

namespace proa::frontends {

// What the gRPC methods work with; all outlive the calls.
struct GrpcServices {
  const FrontendContext& context;
  const ControlService& control;
  ShutdownSignal& shutdown;
};

// The handler of a gRPC call, by its path ("/inference.GRPCInferenceService/ModelInfer"). Methods
// that do not exist, or are not built yet, are refused with UNIMPLEMENTED. Never null.
std::unique_ptr<net::ExchangeHandler> make_grpc_call(std::string_view path,
                                                     const GrpcServices& services);

}  // namespace proa::frontends
