#include "backends/python/python_backend.h"

#include <cstdlib>
#include <iterator>
#include <thread>

#include "base/temporary_folder.h"
#include "base/testing/temp_folder.h"
#include "core/model.h"
#include "core/testing/model_runtime.h"
#include "core/testing/recording_sink.h"
#include "core/testing/requests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends::python {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kDouble = R"(
import triton_python_backend_utils as pb_utils
class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor(
            "OUTPUT0", r.inputs()[0].as_numpy() * 2)]) for r in requests]
)";

// Real worker processes.
class PythonBackendTest : public testing::Test {
 protected:
  PythonBackendTest() {
    ::setenv("PATH", (std::string(PROA_PYTHON_FOLDER) + ":/usr/bin:/bin").c_str(), 1);
    config_.backend = "python";
  }

  core::ModelFiles files() const { return {folder_.path(), folder_.path() / "1", 1}; }

  Result<std::shared_ptr<core::Model>> load(std::string_view model) {
    folder_.write("1/model.py", model);
    PROA_ASSIGN(auto loaded, backend_->load(files(), config_));
    return core::Model::create(config_, 1, std::move(loaded), runtime_.options());
  }

  void ask(const std::shared_ptr<core::Model>& model, const std::string& id, std::int64_t rows,
           float first) {
    auto request = core::float_request(id, rows, 2, first);
    request->model = model;
    request->sink = answers_.sink(id);
    model->infer(std::move(request));
  }

  TempFolder folder_;
  TimerThread timer_;
  core::Answers answers_;
  std::unique_ptr<core::Backend> backend_ =
      create_python_backend({.clock = &steady_clock(), .timer = &timer_});
  config::ModelConfig config_ = core::float_config(8);
  core::ModelRuntime runtime_;
};

TEST_F(PythonBackendTest, AnswersEachRequestOfABatch) {
  config_.dynamic_batching.emplace();
  const auto model = load(kDouble);
  ASSERT_TRUE(model) << model.error().message;
  for (int i = 0; i < 10; ++i) ask(*model, std::to_string(i), 1 + i % 2, static_cast<float>(i));
  answers_.wait_for(10);
  EXPECT_THAT(core::floats(answers_.of("3").outputs[0]), ElementsAre(6, 8, 10, 12));
  EXPECT_THAT(core::floats(answers_.of("8").outputs[0]), ElementsAre(16, 18));
  EXPECT_TRUE((*model)->health());
}

TEST_F(PythonBackendTest, AnErrorAtTheStartNamesTheLine) {
  const auto model = load(
      "class TritonPythonModel:\n    def execute(self, r): pass\n"
      "    def initialize(self, args): raise OSError('gone')\n");
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("OSError: gone"));
  EXPECT_THAT(model.error().message, HasSubstr("1/model.py(3): initialize"));
}

TEST_F(PythonBackendTest, MissingFilesAndProgramsAreNamed) {
  EXPECT_THAT(backend_->load(files(), config_).error().message, HasSubstr("put model.py there"));
  folder_.write("1/model.py", kDouble);
  config_.parameters["EXECUTION_ENV_PATH"] = "$$TRITON_MODEL_DIRECTORY/env";
  EXPECT_THAT(backend_->load(files(), config_).error().message,
              HasSubstr((folder_.path() / "env").native() + "' holds no bin/python3"));
  config_.parameters.clear();
  ::setenv("PATH", "/nowhere", 1);
  EXPECT_THAT(backend_->load(files(), config_).error().message, HasSubstr("apt install python3"));
}

TEST_F(PythonBackendTest, UnpacksAnEnvironmentAndRemovesItInTheEnd) {
  folder_.write("env/bin/python3", "#!/bin/sh\nexec " PROA_PYTHON_FOLDER "/python3 \"$@\"\n");
  std::filesystem::permissions(folder_.path() / "env/bin/python3",
                               std::filesystem::perms::owner_all);
  const std::string archive = folder_.path() / "env.tar.gz";
  ASSERT_EQ(
      std::system(
          ("tar -czf " + archive + " -C " + (folder_.path() / "env").native() + " .").c_str()),
      0);
  config_.parameters["EXECUTION_ENV_PATH"] = "$$TRITON_MODEL_DIRECTORY/env.tar.gz";
  const auto temporary = folder_.make_folder("temporary");
  ::setenv("TMPDIR", temporary.c_str(), 1);
  for (int i = 0; i < 2; ++i) {
    const auto model = load(kDouble);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ(std::distance(begin(std::filesystem::directory_iterator(temporary)), {}), 1);
    // Whoever may enter "." of the archive, and a sweep leaves it.
    TemporaryFolder::sweep(std::atomic<bool>(false));
    const auto unpacked = std::filesystem::directory_iterator(temporary);
    EXPECT_EQ(unpacked->status().permissions(), std::filesystem::perms::owner_all);
    EXPECT_TRUE(std::filesystem::exists(unpacked->path() / "environment/bin/python3"));
  }
  backend_.reset();
  while (!std::filesystem::is_empty(temporary)) std::this_thread::yield();
  ::unsetenv("TMPDIR");
}

TEST_F(PythonBackendTest, AnEnvironmentOfLinksInACircleIsRefused) {
  folder_.make_folder("env");
  std::filesystem::create_symlink("bin", folder_.path() / "env/bin");
  const std::string archive = folder_.path() / "env.tar";
  ASSERT_EQ(std::system(
                ("tar -cf " + archive + " -C " + (folder_.path() / "env").native() + " .").c_str()),
            0);
  config_.parameters["EXECUTION_ENV_PATH"] = "$$TRITON_MODEL_DIRECTORY/env.tar";
  const auto model = load(kDouble);
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("holds no bin/python3"));
}

TEST_F(PythonBackendTest, APythonWithoutNumpyIsToldSo) {
  folder_.write("env/bin/python3", "#!/bin/sh\nexec " PROA_PYTHON_FOLDER "/python3 -S \"$@\"\n");
  std::filesystem::permissions(folder_.path() / "env/bin/python3",
                               std::filesystem::perms::owner_all);
  config_.parameters["EXECUTION_ENV_PATH"] = "$$TRITON_MODEL_DIRECTORY/env";
  const auto model = load(kDouble);
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("cannot import numpy"));
  EXPECT_THAT(model.error().message, HasSubstr("pip install numpy"));
}

TEST_F(PythonBackendTest, CompletesTheConfigurationFromModelPy) {
  folder_.write("1/model.py", R"(
class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        config.add_input({"name": "A", "data_type": "TYPE_INT8", "dims": [-1, 3]})
        config.add_output({"name": "B", "data_type": "TYPE_STRING", "dims": [1]})
        config.set_max_batch_size(5)
        config.set_model_transaction_policy({"decoupled": True})
        return config
    def execute(self, requests): pass
)");
  config_.inputs.clear();
  config_.outputs.clear();
  config_.max_batch_size = 0;
  const Status status = backend_->complete_config(files(), false, config_);
  ASSERT_TRUE(status) << status.error().message;
  ASSERT_EQ(config_.inputs.size(), 1u);
  EXPECT_EQ(config_.inputs[0].dims, Shape({-1, 3}));
  EXPECT_EQ(config_.outputs[0].type, DataType::kBytes);
  EXPECT_EQ(config_.max_batch_size, 5);
  EXPECT_TRUE(config_.decoupled);
  config_.max_batch_size = 3;
  ASSERT_TRUE(backend_->complete_config(files(), true, config_));
  EXPECT_EQ(config_.max_batch_size, 3);
  config_.max_batch_size = 0;
  EXPECT_THAT(backend_->complete_config(files(), true, config_).error().message,
              HasSubstr("max_batch_size: 0, but auto_complete_config sets 5"));
}

}  // namespace
}  // namespace proa::backends::python
