#pragma once

namespace CLI {
class App;
}

namespace proa {

// perf_analyzer's flags that `proa bench` does not need are taken without effect; those that have
// no counterpart are hidden, and refused with the reason and what to do instead, so that scripts
// are told.
void add_other_perf_analyzer_flags(CLI::App& command);

}  // namespace proa
