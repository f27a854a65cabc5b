#pragma once

#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/testing/temp_folder.h"
#include "core/testing/model_runtime.h"
#include "core/testing/recording_sink.h"
#include "core/testing/requests.h"
#include "gtest/gtest.h"
#include "lifecycle/model_repository.h"
#include "lifecycle/testing/scripted_backend.h"

namespace proa::lifecycle {

inline constexpr std::string_view kConfig = "backend: 'scripted'";
inline constexpr std::string_view kPuppet =
    "backend: 'scripted' parameters { key: 'puppet' value { string_value: '' } }";

// A repository over a folder of the test's own.
class ModelRepositoryTest : public testing::Test {
 protected:
  // Before there are threads.
  static void SetUpTestSuite() { ASSERT_TRUE(log::configure({.info = false})); }

  void add_model(const std::string& name, std::string_view config = kConfig) {
    temp_.write("repo/" + name + "/config.pbtxt", config);
    temp_.make_folder("repo/" + name + "/1");
  }

  ModelRepository::Options options() {
    ModelRepository::Options options;
    options.folders = {temp_.make_folder("repo")};
    options.loader.backends = [this](std::string_view name) -> Result<core::Backend*> {
      if (name == backend_.name()) return &backend_;
      return error::not_found("there is no backend '{}'", name);
    };
    options.loader.model = runtime_.options();
    return options;
  }

  // Starts it and waits for all loads.
  std::unique_ptr<ModelRepository> started() {
    auto repository = std::make_unique<ModelRepository>(options());
    EXPECT_TRUE(repository->start());
    EXPECT_TRUE(repository->wait_until_loaded(kNever));
    return repository;
  }

  // "name/version STATE" of every line.
  static std::vector<std::string> states(const ModelRepository& repository) {
    std::vector<std::string> lines;
    for (const VersionStatus& line : repository.index()) {
      lines.push_back(line.model + "/" + line.version + " " +
                      std::string(version_state_name(line.state)));
    }
    return lines;
  }

  // Waits until the index says so: other threads do what a change means a little later.
  static void wait_for(const ModelRepository& repository, const std::vector<std::string>& wanted) {
    while (states(repository) != wanted) std::this_thread::yield();
  }

  void infer(const std::shared_ptr<core::Model>& model, const std::string& id) {
    auto request = core::float_request(id, 1, 2);
    request->model = model;
    request->sink = answers_.sink(id);
    model->infer(std::move(request));
  }

  static Status load(ModelRepository& repository, const std::string& name,
                     LoadRequest request = {}) {
    std::promise<Status> done;
    repository.load(name, std::move(request),
                    [&done](Status status) { done.set_value(std::move(status)); });
    return done.get_future().get();
  }

  TempFolder temp_;
  ScriptedBackend backend_;
  core::Answers answers_;
  core::ModelRuntime runtime_;
};

}  // namespace proa::lifecycle
