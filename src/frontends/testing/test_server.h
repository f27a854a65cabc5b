#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/testing/manual_clock.h"
#include "base/testing/manual_timer.h"
#include "core/testing/puppet_model.h"
#include "frontends/frontend.h"
#include "frontends/testing/exchange_driver.h"
#include "frontends/testing/test_backends.h"
#include "lifecycle/model_repository.h"
#include "net/event_loop.h"

namespace proa::frontends {

// A front end over a real repository, without sockets. The models, one version each:
//   echo       FP32 [-1, 4] INPUT0 -> OUTPUT0, max_batch_size 8, labels "a".."d"
//   wide       FP32 [-1, 16], as echo without labels
//   typed      BYTES [-1], INT64 [-1], BOOL [-1], FP16 [-1]: INPUT0-3 -> OUTPUT0-3, not batched
//   puppet     as echo; the test ends its batches by `puppet`
//   repeat     decoupled, FP32 [1]
//   broken     does not load
// Threading: confined to the test's thread, which is the loop's.
class TestServer {
 public:
  explicit TestServer(ServerOptions options = {}, std::size_t budget_bytes = 64 << 20);
  ~TestServer();

  // A request over HTTP/1.1, whole, answered already where no puppet is asked.
  using Headers = std::vector<std::pair<std::string, std::string>>;
  std::unique_ptr<ExchangeDriver> http(std::string method, std::string target,
                                       std::string_view body = {}, Headers headers = {});
  // A gRPC call of which nothing but the head has come. `method` as "ServerLive", or a whole path.
  std::unique_ptr<ExchangeDriver> grpc(std::string method, Headers headers = {});
  // A unary call with one message, whole.
  std::unique_ptr<ExchangeDriver> grpc_unary(std::string method, std::string_view message,
                                             Headers headers = {});

  // Runs what other threads and the shutdown have posted.
  void poll() { loop_.poll(); }

  core::Puppet puppet;
  ManualClock clock;
  ManualTimer timer{clock};
  core::MemoryBudget budget;

  Frontend& frontend() { return *frontend_; }
  lifecycle::ModelRepository& repository() { return *repository_; }
  net::EventLoop& loop() { return loop_; }

 private:
  void write_models();
  void write(const std::string& path, std::string_view text);

  std::filesystem::path folder_;
  TimerThread model_timer_;
  core::Reaper reaper_;
  TestBackend echo_{"echo", puppet};
  TestBackend puppets_{"puppet", puppet};
  TestBackend repeat_{"repeat", puppet};
  net::EventLoop loop_;
  std::unique_ptr<lifecycle::ModelRepository> repository_;
  std::unique_ptr<Frontend> frontend_;
};

}  // namespace proa::frontends
