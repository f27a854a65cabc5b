#include "backends/python/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace proa::backends::python {
namespace {

constexpr int kChannelFd = 3;

// What the child does between vfork() and execve(): system calls only, it shares our memory.
struct Launch {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int channel;
  pid_t parent;
  int failure = 0;  // errno of what did not work
};

[[noreturn]] void give_up(Launch& launch) {
  launch.failure = errno;
  ::_exit(127);
}

[[noreturn]] void become(Launch& launch) {
  ::setpgid(0, 0);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up(launch);
  if (::getppid() != launch.parent) ::_exit(127);
  if (launch.channel == kChannelFd) {
    ::fcntl(kChannelFd, F_SETFD, 0);
  } else if (::dup2(launch.channel, kChannelFd) < 0) {
    give_up(launch);
  }
  if (::syscall(SYS_close_range, kChannelFd + 1, ~0U, 0) != 0) {
    // Kernels before 5.9: what we open ourselves is close-on-exec; this is for libraries' files.
    for (int fd = kChannelFd + 1; fd < 4096; ++fd) ::close(fd);
  }
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(launch.program, launch.arguments, launch.environment);
  give_up(launch);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

Error start_error(const std::filesystem::path& program, int failure) {
  const auto make = failure == ENOENT                       ? ErrorCode::kNotFound
                    : failure == EACCES || failure == EPERM ? ErrorCode::kPermissionDenied
                                                            : ErrorCode::kResourceExhausted;
  return Error{make,
               fmt::format("'{}' cannot be started: {}", program.native(), std::strerror(failure))};
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const char* name = ::sigabbrev_np(signal);
    return fmt::format("was killed by signal {} (SIG{}){}", signal, name == nullptr ? "?" : name,
                       signal == SIGKILL ? ", as the kernel does when memory runs out" : "");
  }
  return fmt::format("exited with status {}", WEXITSTATUS(status));
}

}  // namespace

Result<Process> Process::start(const Options& options, OwnedFd channel) {
  std::vector<std::string> texts{options.program.native()};
  texts.insert(texts.end(), options.arguments.begin(), options.arguments.end());
  const std::vector<char*> arguments = pointers(texts);
  const std::vector<char*> environment = pointers(options.environment);
  Launch launch{options.program.c_str(), arguments.data(), environment.data(), channel.get(),
                ::getpid()};
  // vfork: the server may hold many gigabytes, whose page tables fork would copy.
  Launch* const shared = &launch;
  const pid_t pid = ::vfork();
  if (pid == 0) become(*shared);
  if (pid < 0) return start_error(options.program, errno);
  if (launch.failure != 0) {
    ::waitpid(pid, nullptr, 0);
    return start_error(options.program, launch.failure);
  }
  return Process(pid);
}

Process::~Process() {
  if (pid_ < 0) return;
  kill();
  std::string ignored;
  wait(std::chrono::minutes(1), ignored);
}

void Process::kill() const {
  if (pid_ < 0) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
}

bool Process::wait(std::chrono::milliseconds timeout, std::string& how) {
  if (pid_ < 0) return true;
  // Readable when the process has ended.
  const OwnedFd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  pollfd ended{handle.get(), POLLIN, 0};
  if (handle.get() >= 0) ::poll(&ended, 1, static_cast<int>(timeout.count()));
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
  // What it has left behind; no other process can have that number as its group.
  ::kill(-pid_, SIGKILL);
  pid_ = -1;
  how = describe(status);
  return true;
}

}  // namespace proa::backends::python
