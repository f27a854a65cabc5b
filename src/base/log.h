#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fmt/format.h"

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

enum class Level : std::uint8_t { kDebug, kInfo, kWarning, kError };

// Logs one line: a text as it is, or a format with its arguments. Threading: any thread.
void write(Level level, std::string_view text);
void write(Level level, fmt::string_view format, fmt::format_args arguments);

inline void debug(std::string_view text) { write(Level::kDebug, text); }
inline void info(std::string_view text) { write(Level::kInfo, text); }
inline void warn(std::string_view text) { write(Level::kWarning, text); }
inline void error(std::string_view text) { write(Level::kError, text); }

template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kDebug, format, fmt::make_format_args(args...));
}
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kInfo, format, fmt::make_format_args(args...));
}
template <typename... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kWarning, format, fmt::make_format_args(args...));
}
template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  write(Level::kError, format, fmt::make_format_args(args...));
}

// `text` with control characters escaped, for what comes from the network or from files: one log
// line stays one line.
std::string printable(std::string_view text);

}  // namespace proa::log
