#pragma once

#include "serve_options.h"

namespace proa {

// `proa serve`: opens the ports, loads the models, serves until SIGTERM or SIGINT, then lets
// requests in flight end within --exit-timeout-secs. A second signal ends the process at once.
// Returns the process's exit status: 0 after a clean end, 1 otherwise (the log says why).
int run_serve(const ServeOptions& options);

}  // namespace proa
