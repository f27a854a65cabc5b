#pragma once

namespace CLI {
class App;
}

namespace proa {

// perf_analyzer's flags that have no counterpart in `proa bench`: hidden, and refused with the
// reason and what to do instead, so that scripts are told.
void add_refused_bench_flags(CLI::App& command);

}  // namespace proa
