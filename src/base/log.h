#pragma once

#include <string>

#include "base/result.h"
#include "spdlog/spdlog.h"

namespace proa::log {

// How a line begins. kIso8601: "2026-11-29T12:00:00.123Z I message"; kDefault, Triton's default:
// "I1129 12:00:00.123456 4711 message", with the process id. Times are UTC.
enum class Format : std::uint8_t { kIso8601, kDefault };

// "ISO8601" and "default", as Triton calls them.
std::string_view format_name(Format format);
Result<Format> parse_format(std::string_view name);

// Which lines are logged, and where to. Each weight is switched for itself.
struct Options {
  bool info = true;
  bool warning = true;
  bool error = true;
  int verbose = 0;  // > 0 adds debug lines
  Format format = Format::kIso8601;
  std::string file;  // "" = stderr; otherwise lines are appended to this file
};

// Sets logging up, once, by main before other threads start; before that spdlog's defaults hold.
// Errors: kInvalidArgument when the file cannot be opened; then nothing has changed.
Status configure(const Options& options);

// Puts everything but `file` into force for the lines that follow. Threading: any thread.
void change(const Options& options);

// What is in force. Threading: any thread.
Options current();

using spdlog::debug;
using spdlog::error;
using spdlog::info;
using spdlog::warn;

// `text` with control characters escaped, for what comes from the network or from files: one log
// line stays one line.
std::string printable(std::string_view text);

}  // namespace proa::log
