#include "backends/python/packed_environments.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "backends/python/process.h"
#include "base/log.h"
#include "base/owned_fd.h"
#include "base/temporary_folder.h"

namespace proa::backends::python {
namespace {

namespace fs = std::filesystem;

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
  struct Unpacked {
    std::unique_ptr<TemporaryFolder> temporary;
    fs::path path;
  };
  const auto unpacked = std::make_shared<Unpacked>();
  PROA_ASSIGN(unpacked->temporary, TemporaryFolder::create());
  // Below it: an archive may say who may enter the folder that it is unpacked into.
  unpacked->path = unpacked->temporary->path() / "environment";
  const PackedEnvironments::Folder folder(unpacked, &unpacked->path);
  std::error_code failed;
  if (!fs::create_directory(*folder, failed)) {
    return error::internal("'{}' cannot be made: {}", folder->native(), failed.message());
  }
  Status status = run("/bin/tar", {"-xf", archive.native(), "-C", folder->native()});
  // Paths of the machine it was packed on, in scripts and libraries.
  if (const fs::path mend = *folder / "bin" / "conda-unpack"; status && fs::exists(mend, failed)) {
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
  Folder outdated;
  {
    MutexLock lock(mutex_);
    auto found = entries_.find(archive);
    while (found != entries_.end() && found->second.folder == nullptr) {
      changed_.wait(mutex_);
      found = entries_.find(archive);
    }
    if (found != entries_.end() && found->second.stamp == stamp) return found->second.folder;
    outdated = std::exchange(entries_[archive], Entry{stamp, nullptr}).folder;
  }
  outdated.reset();  // gigabytes, perhaps, unless a model uses it: not under the lock
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
