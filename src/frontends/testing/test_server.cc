#include "frontends/testing/test_server.h"

#include <unistd.h>

#include <atomic>
#include <fstream>

#include "base/check.h"
#include "frontends/testing/grpc_frames.h"

namespace proa::frontends {
namespace {

constexpr std::string_view kRow = R"(
max_batch_size: 8
input { name: "INPUT0" data_type: TYPE_FP32 dims: 4 }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: 4 label_filename: "labels.txt" }
)";

constexpr std::string_view kWide = R"(
backend: "echo"
max_batch_size: 8
input { name: "INPUT0" data_type: TYPE_FP32 dims: 16 }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: 16 }
)";

constexpr std::string_view kTyped = R"(
backend: "echo"
input { name: "INPUT0" data_type: TYPE_STRING dims: -1 }
input { name: "INPUT1" data_type: TYPE_INT64 dims: -1 }
input { name: "INPUT2" data_type: TYPE_BOOL dims: -1 }
input { name: "INPUT3" data_type: TYPE_FP16 dims: -1 }
output { name: "OUTPUT0" data_type: TYPE_STRING dims: -1 }
output { name: "OUTPUT1" data_type: TYPE_INT64 dims: -1 }
output { name: "OUTPUT2" data_type: TYPE_BOOL dims: -1 }
output { name: "OUTPUT3" data_type: TYPE_FP16 dims: -1 }
)";

constexpr std::string_view kRepeat = R"(
backend: "repeat"
input { name: "INPUT0" data_type: TYPE_FP32 dims: 1 }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: 1 }
model_transaction_policy { decoupled: true }
)";

std::filesystem::path new_folder() {
  static std::atomic<int> count = 0;
  return std::filesystem::temp_directory_path() /
         fmt::format("proa_frontends_{}_{}", getpid(), count++);
}

}  // namespace

TestServer::TestServer(ServerOptions options, std::size_t budget_bytes)
    : budget(budget_bytes), folder_(new_folder()) {
  loop_.poll();
  write_models();
  lifecycle::ModelRepository::Options repository;
  repository.folders = {folder_};
  repository.loader.backends = [this](std::string_view name) -> Result<core::Backend*> {
    for (TestBackend* backend : {&echo_, &puppets_, &repeat_}) {
      if (backend->name() == name) return backend;
    }
    return error::not_found("no backend '{}'", name);
  };
  repository.loader.model = {.timer = &model_timer_, .reaper = &reaper_};
  repository_ = std::make_unique<lifecycle::ModelRepository>(std::move(repository));
  PROA_CHECK(repository_->start(), "the test's models are listed");
  PROA_CHECK(repository_->wait_until_loaded(kNever), "the test's models are loaded");

  FrontendContext context;
  context.repository = repository_.get();
  context.budget = &budget;
  context.memory = &host_memory();
  context.clock = &clock;
  context.timer = &timer;
  context.server_version = "1.2.3";
  context.options = std::move(options);
  frontend_ = std::make_unique<Frontend>(std::move(context));
}

TestServer::~TestServer() {
  repository_.reset();
  std::filesystem::remove_all(folder_);
}

void TestServer::write_models() {
  write("echo/config.pbtxt", std::string("backend: \"echo\"").append(kRow));
  write("echo/labels.txt", "a\nb\nc\nd\n");
  write("echo/1/empty", "");
  write("puppet/config.pbtxt", std::string("backend: \"puppet\"").append(kRow));
  write("puppet/labels.txt", "a\nb\nc\nd\n");
  write("puppet/1/empty", "");
  write("typed/config.pbtxt", kTyped);
  write("typed/1/empty", "");
  write("wide/config.pbtxt", kWide);
  write("wide/1/empty", "");
  write("repeat/config.pbtxt", kRepeat);
  write("repeat/1/empty", "");
  write("broken/config.pbtxt", "max_batch_size: \"many\"");
  write("broken/1/empty", "");
}

void TestServer::write(const std::string& path, std::string_view text) {
  std::filesystem::create_directories((folder_ / path).parent_path());
  std::ofstream(folder_ / path) << text;
}

std::unique_ptr<ExchangeDriver> TestServer::http(std::string method, std::string target,
                                                 std::string_view body, Headers headers) {
  auto driver = std::make_unique<ExchangeDriver>(
      loop_, frontend_->factory({.rest = true, .grpc = true, .metrics = true}),
      ExchangeDriver::Head{std::move(method), std::move(target), std::move(headers), 1,
                           static_cast<std::int64_t>(body.size())});
  driver->data(body);
  driver->end();
  return driver;
}

std::unique_ptr<ExchangeDriver> TestServer::grpc(std::string method, Headers headers) {
  if (!method.starts_with('/')) method = "/inference.GRPCInferenceService/" + method;
  headers.emplace_back("content-type", "application/grpc");
  return std::make_unique<ExchangeDriver>(
      loop_, frontend_->factory({.grpc = true}),
      ExchangeDriver::Head{"POST", std::move(method), std::move(headers), 2});
}

std::unique_ptr<ExchangeDriver> TestServer::grpc_unary(std::string method, std::string_view message,
                                                       Headers headers) {
  auto driver = grpc(std::move(method), std::move(headers));
  driver->data(grpc_frame(message));
  driver->end();
  return driver;
}

}  // namespace proa::frontends
