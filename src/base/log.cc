#include "base/log.h"

#include "spdlog/sinks/stdout_sinks.h"

namespace proa::log {

void configure(const Options& options) {
  auto logger =
      std::make_shared<spdlog::logger>("proa", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %L %v", spdlog::pattern_time_type::utc);
  spdlog::level::level_enum level = spdlog::level::off;
  if (options.error) level = spdlog::level::err;
  if (options.warning) level = spdlog::level::warn;
  if (options.info) level = spdlog::level::info;
  if (options.verbose > 0) level = spdlog::level::debug;
  logger->set_level(level);
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (unsigned char c : text) {
    if (c >= 0x20 && c != 0x7f) {
      result.push_back(static_cast<char>(c));
    } else {
      result += fmt::format("\\x{:02x}", c);
    }
  }
  return result;
}

}  // namespace proa::log
