#include "base/thread.h"

#include <pthread.h>

#include <csignal>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

namespace proa {
namespace {

std::ptrdiff_t running_threads() {
  std::error_code ignored;
  const std::filesystem::directory_iterator tasks("/proc/self/task", ignored);
  return std::distance(begin(tasks), end(tasks));
}

}  // namespace

std::thread start_thread(std::string name, std::move_only_function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread(std::move(body));
  } catch (const std::system_error&) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  name.resize(std::min<std::size_t>(name.size(), 15));
  pthread_setname_np(thread.native_handle(), name.c_str());
  return thread;
}

Result<std::thread> try_start_thread(std::string name, std::move_only_function<void()> body) {
  try {
    return start_thread(std::move(name), std::move(body));
  } catch (const std::system_error&) {
    return error::resource_exhausted(
        "no thread could be started: {} threads run; raise the limit of processes (pids.max of the "
        "container, ulimit -u), or lower the count of instance_group",
        running_threads());
  }
}

}  // namespace proa
