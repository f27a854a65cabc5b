#include "engine/tuning/cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/owned_fd.h"
#include "fmt/core.h"

namespace proa::engine {
namespace {

std::optional<Implementation> parse_implementation(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Implementation::kReference); ++i) {
    if (name_of(static_cast<Implementation>(i)) == name) return static_cast<Implementation>(i);
  }
  return std::nullopt;
}

std::vector<std::string> split(std::string_view line, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = line.find(separator, begin);
    parts.emplace_back(line.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

// Until it goes; nobody else who asks so has the folder meanwhile. Without effect where it cannot
// be opened: writing says why.
OwnedFd lock_folder_of(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  OwnedFd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock.get() >= 0) ::flock(lock.get(), LOCK_EX);
  return lock;
}

}  // namespace

Result<TuningCache> TuningCache::parse(std::string_view text) {
  TuningCache cache;
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const std::vector<std::string> parts = split(line, '\t');
    if (parts.size() != 5) {
      return error::invalid_argument("line {}: wanted 5 fields between tabs, found {}", number,
                                     parts.size());
    }
    const auto implementation = parse_implementation(parts[2]);
    if (!implementation) {  // of a newer version, say
      cache.unknown_lines_.push_back(line);
      continue;
    }
    Choice choice{*implementation, parts[3], 0};
    const char* end = parts[4].data() + parts[4].size();
    if (std::from_chars(parts[4].data(), end, choice.microseconds).ptr != end ||
        !std::isfinite(choice.microseconds) || choice.microseconds < 0) {
      return error::invalid_argument("line {}: '{}' is no time", number, parts[4]);
    }
    cache.choices_[{parts[0], parts[1]}] = std::move(choice);
  }
  return cache;
}

Result<TuningCache> TuningCache::load_file(const std::filesystem::path& path) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) return TuningCache{};
  std::ifstream file(path);
  file.peek();  // finds out whether it can be read
  if (!file.is_open() || file.bad()) {
    return error::invalid_argument("'{}' cannot be read: {}", path.string(), std::strerror(errno));
  }
  std::ostringstream text;
  text << file.rdbuf();
  auto cache = parse(text.str());
  if (!cache) return with_context(path.string(), std::move(cache).error());
  return cache;
}

std::optional<Choice> TuningCache::find(const std::string& environment,
                                        const std::string& signature) const {
  const auto found = choices_.find({environment, signature});
  if (found == choices_.end()) return std::nullopt;
  return found->second;
}

void TuningCache::put(const std::string& environment, const std::string& signature, Choice choice) {
  choices_[{environment, signature}] = std::move(choice);
  unsaved_.insert({environment, signature});
}

std::string TuningCache::print() const {
  std::string text = "# environment, step, implementation, variant, microseconds\n";
  for (const auto& [key, choice] : choices_) {
    text += fmt::format("{}\t{}\t{}\t{}\t{:.3f}\n", key.first, key.second,
                        name_of(choice.implementation), choice.variant, choice.microseconds);
  }
  for (const std::string& line : unknown_lines_) text += line + '\n';
  return text;
}

Status TuningCache::save_file(const std::filesystem::path& path) {
  const OwnedFd lock = lock_folder_of(path);
  PROA_ASSIGN(TuningCache now, load_file(path));
  for (const Key& key : unsaved_) now.choices_[key] = choices_[key];
  PROA_TRY(now.replace_file(path));
  *this = std::move(now);
  return {};
}

Status TuningCache::replace_file(const std::filesystem::path& path) const {
  std::filesystem::path fresh = path;
  fresh += fmt::format(".{}.new", ::getpid());  // of this process alone
  std::ofstream out(fresh, std::ios::trunc);
  out << print();
  out.close();
  std::error_code failed;
  if (out.good()) std::filesystem::rename(fresh, path, failed);
  if (!out.good() || failed) {
    return error::failed_precondition("'{}' cannot be written: {}", path.string(),
                                      failed ? failed.message() : "write failed");
  }
  return {};
}

}  // namespace proa::engine
