#pragma once

#include "bench_options.h"

namespace proa {

// `proa bench`: loads a server or a model, prints what it measured and writes the reports that were
// asked for. `command_line` and proa's `version` are for them. Returns the process's exit status:
//   0  measured, and every request succeeded
//   1  an error, or requests failed
//   2  the command line is to blame
//   3  a pass is not stable, or the generator was the limit
//   4  a regression against --compare
// Ctrl-C ends the load cleanly; what was measured is still reported.
int run_bench_command(const BenchOptions& options, const std::string& command_line,
                      const std::string& version);

}  // namespace proa
