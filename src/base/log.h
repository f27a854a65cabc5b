#pragma once

#include <string>

#include "spdlog/spdlog.h"

namespace proa::log {

// Log lines go to stderr as "2026-11-29T12:00:00.123Z I message". Set up once by main; before that
// spdlog's defaults hold.
struct Options {
  bool info = true;
  bool warning = true;
  bool error = true;
  int verbose = 0;  // > 0 adds debug lines
};
void configure(const Options& options);

using spdlog::debug;
using spdlog::error;
using spdlog::info;
using spdlog::warn;

// `text` with control characters escaped, for what comes from the network or from files: one log
// line stays one line.
std::string printable(std::string_view text);

}  // namespace proa::log
