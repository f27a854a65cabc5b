#pragma once

#include <memory>

#include "frontends/control_service.h"
#include "frontends/http/route_table.h"
#include "frontends/options.h"
#include "frontends/shutdown_signal.h"
#include "net/exchange.h"

namespace proa::frontends {

// The front ends of a server: turns HTTP requests and gRPC calls into requests of models. One
// serves any number of listeners.
//
//   Frontend frontend(context);
//   loops.listen({.name = "gRPC", .port = 8001, .factory = frontend.factory({.grpc = true})});
//
// Threading: thread-safe. Must outlive the listeners and every exchange.
class Frontend {
 public:
  explicit Frontend(FrontendContext context);

  // What a listener does with its requests; `services` are those it carries.
  net::HandlerFactory factory(Services services);

  // The server is about to stop: health says so, and calls that would go on for ever end.
  void begin_shutdown() { shutdown_.begin(); }

 private:
  using Handler = std::unique_ptr<net::ExchangeHandler>;
  Handler make(const net::RequestHead& head, Services services);
  Handler make_rest(const net::RequestHead& head, Services services);
  Handler make_grpc(const net::RequestHead& head);

  const FrontendContext context_;
  ShutdownSignal shutdown_;
  const ControlService control_;
  const RouteTable routes_;
};

}  // namespace proa::frontends
