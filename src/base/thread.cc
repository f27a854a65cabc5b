#include "base/thread.h"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace proa {

std::thread start_thread(std::string name, std::move_only_function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  name.resize(std::min<std::size_t>(name.size(), 15));
  pthread_setname_np(thread.native_handle(), name.c_str());
  return thread;
}

}  // namespace proa
