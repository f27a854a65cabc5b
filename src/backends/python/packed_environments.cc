#include "backends/python/packed_environments.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "backends/python/process.h"
#include "base/log.h"
#include "base/text.h"

namespace proa::backends::python {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "proa-environment-";
constexpr std::chrono::hours kLongest{1};

// Changes when the file does.
Result<std::string> stamp_of(const fs::path& archive) {
  struct stat status = {};
  if (::stat(archive.c_str(), &status) != 0) {
    return error::not_found("parameter EXECUTION_ENV_PATH: '{}': {}",
                            log::printable(archive.native()), std::strerror(errno));
  }
  return fmt::format("{}:{}:{}:{}.{}", status.st_dev, status.st_ino, status.st_size,
                     status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

// Removes the folders of processes that are gone.
void sweep(const fs::path& temporary) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(temporary, failed)) {
    const std::string file = entry.path().filename().native();
    std::string_view name = file;
    if (!name.starts_with(kPrefix)) continue;
    name.remove_prefix(kPrefix.size());
    const auto pid = parse_number<pid_t>(name.substr(0, name.find('-')));
    if (!pid || ::kill(*pid, 0) == 0 || errno != ESRCH) continue;
    fs::remove_all(entry.path(), failed);
  }
}

// Runs a program to its end. Errors: kInvalidArgument when it fails.
Status run(const fs::path& program, std::vector<std::string> arguments) {
  PROA_ASSIGN(Process process,
              Process::start({program, std::move(arguments), {"PATH=/usr/local/bin:/usr/bin:/bin"}},
                             OwnedFd(::open("/dev/null", O_RDWR | O_CLOEXEC))));
  std::string how;
  if (!process.wait(kLongest, how)) {
    return error::invalid_argument("{} did not end within an hour", program.native());
  }
  if (how == "exited with status 0") return {};
  return error::invalid_argument("{} {}; the log shows what it said", program.native(), how);
}

Result<PackedEnvironments::Folder> unpack_into_new(const fs::path& archive) {
  const fs::path temporary = fs::temp_directory_path();
  sweep(temporary);
  std::string name = (temporary / fmt::format("{}{}-XXXXXX", kPrefix, ::getpid())).native();
  if (::mkdtemp(name.data()) == nullptr) {
    return error::resource_exhausted("no folder '{}': {}", name, std::strerror(errno));
  }
  PackedEnvironments::Folder folder(new fs::path(name), [](const fs::path* gone) {
    std::error_code ignored;
    fs::remove_all(*gone, ignored);
    delete gone;
  });
  Status status = run("/bin/tar", {"-xf", archive.native(), "-C", name});
  // Paths of the machine it was packed on, in scripts and libraries.
  if (const fs::path mend = *folder / "bin" / "conda-unpack"; status && fs::exists(mend)) {
    status = run(*folder / "bin" / "python", {mend.native()});
  }
  if (!status) {
    return with_context(
        fmt::format("parameter EXECUTION_ENV_PATH: '{}'", log::printable(archive.native())),
        status.error());
  }
  return folder;
}

}  // namespace

bool PackedEnvironments::is_archive(const fs::path& path) {
  const std::string& name = path.native();
  return name.ends_with(".tar.gz") || name.ends_with(".tgz") || name.ends_with(".tar");
}

Result<PackedEnvironments::Folder> PackedEnvironments::unpack(const fs::path& archive) {
  PROA_ASSIGN(const std::string stamp, stamp_of(archive));
  {
    MutexLock lock(mutex_);
    auto found = entries_.find(archive);
    while (found != entries_.end() && found->second.folder == nullptr) {
      changed_.wait(mutex_);
      found = entries_.find(archive);
    }
    if (found != entries_.end() && found->second.stamp == stamp) return found->second.folder;
    entries_[archive] = Entry{stamp, nullptr};
  }
  auto folder = unpack_into_new(archive);
  {
    MutexLock lock(mutex_);
    if (folder) {
      entries_[archive].folder = *folder;
    } else {
      entries_.erase(archive);
    }
  }
  changed_.notify_all();
  return folder;
}

}  // namespace proa::backends::python
