#include "base/log.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "spdlog/pattern_formatter.h"
#include "spdlog/sinks/base_sink.h"
#include "spdlog/spdlog.h"

namespace proa::log {
namespace {

using Weight = spdlog::level::level_enum;

Weight weight(Level level) {
  switch (level) {
    case Level::kDebug:
      return Weight::debug;
    case Level::kInfo:
      return Weight::info;
    case Level::kWarning:
      return Weight::warn;
    case Level::kError:
      return Weight::err;
  }
  return Weight::err;
}

// Whether lines of that weight are wanted.
bool wanted(const Options& options, Weight level) {
  if (level >= Weight::err) return options.error;
  if (level == Weight::warn) return options.warning;
  return level == Weight::info ? options.info : options.verbose > 0;
}

// The lightest weight that is wanted: lines below it are not even put together.
Weight lowest(const Options& options) {
  for (const Weight level : {Weight::debug, Weight::info, Weight::warn, Weight::err}) {
    if (wanted(options, level)) return level;
  }
  return Weight::off;
}

const char* pattern(Format format) {
  return format == Format::kIso8601 ? "%Y-%m-%dT%H:%M:%S.%eZ %L %v" : "%L%m%d %H:%M:%S.%f %P %v";
}

// Writes the wanted lines to one stream. base_sink's mutex guards all of it.
class SwitchedSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // Takes over `stream` unless it is stderr.
  explicit SwitchedSink(std::FILE* stream) : stream_(stream) {}
  ~SwitchedSink() override {
    if (stream_ != stderr) std::fclose(stream_);
  }

  void use(const Options& options) {
    auto formatter = std::make_unique<spdlog::pattern_formatter>(pattern(options.format),
                                                                 spdlog::pattern_time_type::utc);
    std::lock_guard lock(mutex_);
    options_ = options;
    formatter_ = std::move(formatter);
  }
  Options options() {
    std::lock_guard lock(mutex_);
    return options_;
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (!wanted(options_, message.level)) return;
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    (void)std::fwrite(line.data(), 1, line.size(), stream_);
  }
  void flush_() override { (void)std::fflush(stream_); }

 private:
  std::FILE* const stream_;
  Options options_;
};

// Set by configure(), never taken away.
std::shared_ptr<SwitchedSink>& sink() {
  static std::shared_ptr<SwitchedSink> instance;
  return instance;
}

}  // namespace

std::string_view format_name(Format format) {
  return format == Format::kIso8601 ? "ISO8601" : "default";
}

Result<Format> parse_format(std::string_view name) {
  for (const Format format : {Format::kIso8601, Format::kDefault}) {
    if (name == format_name(format)) return format;
  }
  return error::invalid_argument("log format '{}' is not known: use 'default' or 'ISO8601'",
                                 printable(name));
}

Status configure(const Options& options) {
  std::FILE* stream = stderr;
  if (!options.file.empty()) stream = std::fopen(options.file.c_str(), "ae");
  if (stream == nullptr) {
    return error::invalid_argument("log file '{}' cannot be opened: {}", options.file,
                                   std::strerror(errno));
  }
  sink() = std::make_shared<SwitchedSink>(stream);
  sink()->use(options);
  auto logger = std::make_shared<spdlog::logger>("proa", sink());
  logger->set_level(lowest(options));
  logger->flush_on(Weight::debug);
  spdlog::set_default_logger(std::move(logger));
  return {};
}

void change(const Options& options) {
  if (sink() == nullptr) return;
  Options next = options;
  next.file = sink()->options().file;
  sink()->use(next);
  spdlog::default_logger_raw()->set_level(lowest(next));
}

Options current() { return sink() == nullptr ? Options() : sink()->options(); }

void write(Level level, std::string_view text) {
  spdlog::default_logger_raw()->log(weight(level), spdlog::string_view_t(text.data(), text.size()));
}

void write(Level level, fmt::string_view format, fmt::format_args arguments) {
  if (spdlog::default_logger_raw()->should_log(weight(level))) {
    write(level, fmt::vformat(format, arguments));
  }
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
