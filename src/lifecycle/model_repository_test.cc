#include "lifecycle/model_repository.h"

#include <atomic>
#include <future>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lifecycle/testing/repository_fixture.h"

namespace proa::lifecycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST_F(ModelRepositoryTest, LoadsManyModelsOfWhichSomeAreBadOrSlow) {
  for (int i = 0; i < 18; ++i) add_model("good_" + std::to_string(100 + i));
  add_model("broken", "backend: 'scripted' max_bach_size: 8");
  add_model("slow");
  backend_.hold("slow");
  ModelRepository repository(options());
  ASSERT_TRUE(repository.start());
  EXPECT_FALSE(repository.ready());
  backend_.wait_for_load("slow");

  // Everybody else becomes ready while one is stuck.
  while (repository.ready_models().size() < 18) std::this_thread::yield();
  EXPECT_FALSE(repository.ready());
  EXPECT_TRUE(repository.model_ready("good_117", "1"));
  const Error slow = repository.find("slow", "").error();
  EXPECT_EQ(slow.code, ErrorCode::kUnavailable);
  EXPECT_THAT(slow.message, HasSubstr("being loaded"));

  backend_.release("slow");
  ASSERT_TRUE(repository.wait_until_loaded(kNever));
  EXPECT_TRUE(repository.ready());
  EXPECT_TRUE(repository.find("slow", "1"));
  const Error broken = repository.find("broken", "").error();
  EXPECT_EQ(broken.code, ErrorCode::kUnavailable);
  EXPECT_THAT(broken.message, HasSubstr("config.pbtxt:1:21: ModelConfig has no field"));
  const std::vector<VersionStatus> index = repository.index();
  ASSERT_EQ(index.size(), 20u);
  EXPECT_EQ(index[0].model, "broken");
  EXPECT_EQ(index[0].version, "");
  EXPECT_EQ(index[0].state, VersionState::kUnavailable);
  EXPECT_THAT(index[0].reason, HasSubstr("max_bach_size"));
  EXPECT_EQ(index[1].state, VersionState::kReady);
}

TEST_F(ModelRepositoryTest, TellsHowTheFirstLoadEnded) {
  add_model("a");
  add_model("b", "backend: 'nobody'");
  std::promise<LoadSummary> promise;
  auto options = this->options();
  options.on_loaded = [&](const LoadSummary& result) { promise.set_value(result); };
  ModelRepository repository(std::move(options));
  ASSERT_TRUE(repository.start());
  const LoadSummary summary = promise.get_future().get();
  EXPECT_EQ(summary.ready, 1u);
  EXPECT_THAT(summary.failed, ElementsAre("b"));
}

TEST_F(ModelRepositoryTest, StartsWithoutAnyModel) {
  const auto repository = started();
  EXPECT_TRUE(repository->ready());
  EXPECT_THAT(repository->index(), IsEmpty());
}

TEST_F(ModelRepositoryTest, RefusesAFolderThatIsMissing) {
  auto options = this->options();
  options.folders = {temp_.path() / "none"};
  ModelRepository repository(std::move(options));
  EXPECT_THAT(repository.start().error().message, HasSubstr("none' does not exist"));
}

TEST_F(ModelRepositoryTest, AModelWhoseDeviceIsGoneIsNotReady) {
  add_model("lost", "backend: 'scripted' parameters { key: 'lost' value { string_value: '' } }");
  add_model("well");
  ModelRepository::Options strict = options();
  strict.strict_readiness = true;
  ModelRepository repository(strict);
  ASSERT_TRUE(repository.start());
  ASSERT_TRUE(repository.wait_until_loaded(kNever));
  EXPECT_TRUE(repository.model_ready("well", ""));
  const Status lost = repository.model_ready("lost", "");
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().message, "the device is gone");
  EXPECT_FALSE(repository.ready());
}

TEST_F(ModelRepositoryTest, StrictReadinessWantsEveryModel) {
  add_model("good");
  add_model("bad", "backend: 'nobody'");
  auto options = this->options();
  options.strict_readiness = true;
  ModelRepository repository(std::move(options));
  ASSERT_TRUE(repository.start());
  ASSERT_TRUE(repository.wait_until_loaded(kNever));
  EXPECT_FALSE(repository.ready());
  temp_.write("repo/bad/config.pbtxt", kConfig);
  ASSERT_TRUE(load(repository, "bad"));
  EXPECT_TRUE(repository.ready());
}

TEST_F(ModelRepositoryTest, FindsVersionsInTritonsWords) {
  add_model("m", "backend: 'scripted' version_policy { latest { num_versions: 2 } }");
  temp_.make_folder("repo/m/2");
  temp_.make_folder("repo/m/10");
  const auto repository = started();
  EXPECT_EQ((*repository->find("m", ""))->version(), 10);
  EXPECT_EQ((*repository->find("m", "2"))->version(), 2);
  EXPECT_THAT(repository->ready_versions("m"), ElementsAre(2, 10));
  EXPECT_THAT(repository->ready_versions("none"), IsEmpty());

  const auto message = [&](std::string_view name, std::string_view version) {
    return repository->find(name, version).error().to_string();
  };
  EXPECT_EQ(message("none", ""), "NOT_FOUND: Request for unknown model: 'none' is not found");
  EXPECT_EQ(message("none", "1"), "NOT_FOUND: Request for unknown model: 'none' is not found");
  EXPECT_EQ(message("m", "1"), "NOT_FOUND: Request for unknown model: 'm' version 1 is not found");
  EXPECT_THAT(message("m", "x"), StartsWith("INVALID_ARGUMENT: model 'm': 'x' is no version"));
}

TEST_F(ModelRepositoryTest, KeepsTheGoodVersionsOfAModelWithABadOne) {
  add_model("m", "backend: 'scripted' version_policy { all { } }");
  temp_.write("repo/m/2/broken", "");
  const auto repository = started();
  EXPECT_THAT(states(*repository), ElementsAre("m/1 READY", "m/2 UNAVAILABLE"));
  EXPECT_EQ((*repository->find("m", ""))->version(), 1);
  const Error error = repository->find("m", "2").error();
  EXPECT_EQ(error.code, ErrorCode::kUnavailable);
  EXPECT_EQ(error.message,
            "Request for unknown model: 'm' version 2 is not at ready state: version 2 is broken");
}

TEST_F(ModelRepositoryTest, RefusesANameThatTwoFoldersHold) {
  add_model("m");
  temp_.make_folder("other/m/1");
  auto options = this->options();
  options.folders.push_back(temp_.path() / "other");
  ModelRepository repository(std::move(options));
  ASSERT_TRUE(repository.start());
  ASSERT_TRUE(repository.wait_until_loaded(kNever));
  EXPECT_THAT(repository.find("m", "").error().message,
              HasSubstr("2 model repositories hold a model 'm'"));
}

TEST_F(ModelRepositoryTest, ReadsLabelsOfEachOutput) {
  add_model("m",
            "backend: 'scripted' output [ { name: 'a' data_type: TYPE_FP32 dims: 2 }, "
            "{ name: 'b' data_type: TYPE_FP32 dims: 2 label_filename: 'labels/b.txt' } ]");
  temp_.write("repo/m/labels/b.txt", "cat\r\ndog\n\nlast");
  const auto repository = started();
  const auto model = repository->find("m", "");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_THAT((*model)->labels(0), IsEmpty());
  EXPECT_THAT((*model)->labels(1), ElementsAre("cat", "dog", "", "last"));
}

TEST_F(ModelRepositoryTest, RefusesLabelsFromOutsideTheRepository) {
  add_model("m",
            "backend: 'scripted' output { name: 'a' data_type: TYPE_FP32 dims: 2 "
            "label_filename: 'labels.txt' }");
  const auto outside = temp_.write("secret.txt", "secret");
  std::filesystem::create_symlink(outside, temp_.path() / "repo/m/labels.txt");
  const auto repository = started();
  EXPECT_THAT(repository->find("m", "").error().message,
              HasSubstr("leads out of the model repository"));
}

TEST_F(ModelRepositoryTest, RefusesModelFilesFromOutsideTheRepository) {
  add_model("linked");
  std::filesystem::create_symlink(temp_.write("model.onnx", ""),
                                  temp_.path() / "repo/linked/1/model.onnx");
  temp_.make_folder("repo/version");
  std::filesystem::create_directory_symlink(temp_.make_folder("outside"),
                                            temp_.path() / "repo/version/1");
  add_model("climbing", "backend: 'scripted' default_model_filename: '../../../model.onnx'");
  const auto repository = started();
  EXPECT_THAT(repository->find("linked", "").error().message, HasSubstr("leads out of"));
  EXPECT_THAT(repository->find("version", "").error().message, HasSubstr("leads out of"));
  EXPECT_THAT(repository->find("climbing", "").error().message,
              HasSubstr("default_model_filename: '../../../model.onnx' must lie inside"));
}

TEST_F(ModelRepositoryTest, SaysWhatAFolderWithoutVersionsLacks) {
  temp_.write("repo/m/model.onnx", "");
  temp_.make_folder("repo/m/v1");
  const auto repository = started();
  EXPECT_THAT(repository->find("m", "").error().message, HasSubstr("sub-folder named by a number"));
}

TEST_F(ModelRepositoryTest, TellsClientsOfNoFolderOutsideTheRepository) {
  temp_.make_folder("repo/empty");
  const auto repository = started();
  for (const std::string& reason :
       {repository->index()[0].reason, repository->find("empty", "").error().message,
        load(*repository, "empty").error().message}) {
    EXPECT_THAT(reason, HasSubstr("'empty' holds no version"));
  }
}

TEST_F(ModelRepositoryTest, ReloadSwapsBesideRequestsInFlight) {
  add_model("m", kPuppet);
  const auto repository = started();
  infer(*repository->find("m", ""), "old");
  temp_.make_folder("repo/m/2");
  ASSERT_TRUE(load(*repository, "m"));

  EXPECT_THAT(states(*repository), ElementsAre("m/1 UNLOADING", "m/2 READY"));
  EXPECT_EQ((*repository->find("m", ""))->version(), 2);
  EXPECT_EQ(repository->find("m", "1").error().code, ErrorCode::kUnavailable);
  backend_.puppet().finish();
  EXPECT_EQ(answers_.ids(), "old");
  EXPECT_THAT(states(*repository), ElementsAre("m/1 UNAVAILABLE", "m/2 READY"));
}

TEST_F(ModelRepositoryTest, ReloadOfTheSameVersionKeepsItsPlace) {
  add_model("m", kPuppet);
  const auto repository = started();
  infer(*repository->find("m", ""), "old");
  temp_.write("repo/m/1/weights", "new ones");
  ASSERT_TRUE(load(*repository, "m"));
  infer(*repository->find("m", "1"), "new");
  backend_.puppet().finish();
  // The end of the old one does not touch the new one.
  EXPECT_THAT(states(*repository), ElementsAre("m/1 READY"));
  backend_.puppet().finish();
  EXPECT_EQ(answers_.ids(), "old new");
}

TEST_F(ModelRepositoryTest, FailedReloadLeavesTheOldVersion) {
  add_model("m");
  const auto repository = started();
  temp_.write("repo/m/config.pbtxt",
              "backend: 'scripted' parameters { key: 'fail' value { string_value: 'bad luck' } }");
  EXPECT_THAT(load(*repository, "m").error().message,
              HasSubstr("load failed for model 'm': version 1 is at UNAVAILABLE state: bad luck"));
  EXPECT_THAT(states(*repository), ElementsAre("m/1 READY"));
  EXPECT_TRUE(repository->find("m", ""));
}

TEST_F(ModelRepositoryTest, UnloadRefusesNewRequestsAndLetsOldOnesEnd) {
  add_model("m", kPuppet);
  const auto repository = started();
  infer(*repository->find("m", ""), "a");
  ASSERT_TRUE(repository->unload("m"));
  EXPECT_THAT(states(*repository), ElementsAre("m/1 UNLOADING"));
  EXPECT_EQ(repository->find("m", "").error().message,
            "Request for unknown model: 'm' has no available versions: unloaded");
  backend_.puppet().finish();
  EXPECT_EQ(answers_.ids(), "a");
  EXPECT_THAT(states(*repository), ElementsAre("m/1 UNAVAILABLE"));
  ASSERT_TRUE(repository->unload("none"));

  ASSERT_TRUE(load(*repository, "m"));
  EXPECT_THAT(states(*repository), ElementsAre("m/1 READY"));
}

TEST_F(ModelRepositoryTest, ShutDownWaitsForRequestsInFlight) {
  add_model("m", kPuppet);
  const auto repository = started();
  infer(*repository->find("m", ""), "a");
  std::thread client([&] { backend_.puppet().finish(); });
  EXPECT_TRUE(repository->shut_down(kNever));
  client.join();
  EXPECT_EQ(answers_.ids(), "a");
  EXPECT_FALSE(repository->ready());
  EXPECT_THAT(repository->find("m", "").error().message, HasSubstr("shutting down"));
}

TEST_F(ModelRepositoryTest, ShutDownRefusesWhatIsQueuedAtItsDeadline) {
  add_model("m", kPuppet);
  const auto repository = started();
  infer(*repository->find("m", ""), "running");
  infer(*repository->find("m", ""), "queued");
  EXPECT_FALSE(repository->shut_down(steady_clock().now()));
  EXPECT_EQ(answers_.ids(), "!queued");
  backend_.puppet().finish();
  EXPECT_EQ(answers_.ids(), "!queued running");
}

TEST_F(ModelRepositoryTest, ALoadThatEndsAfterShutDownIsDropped) {
  add_model("m");
  backend_.hold("m");
  ModelRepository repository(options());
  ASSERT_TRUE(repository.start());
  backend_.wait_for_load("m");
  EXPECT_TRUE(repository.shut_down(kNever));
  backend_.release("m");
  ASSERT_TRUE(repository.wait_until_loaded(kNever));
  EXPECT_THAT(repository.find("m", "").error().message, HasSubstr("shutting down"));
  EXPECT_FALSE(repository.ready());
}

TEST_F(ModelRepositoryTest, DestructorEndsLoadsThatHaveNotBegun) {
  for (const char* name : {"a", "b", "c"}) add_model(name);
  auto options = this->options();
  options.load_threads = 1;
  backend_.hold("a");
  auto repository = std::make_unique<ModelRepository>(std::move(options));
  ASSERT_TRUE(repository->start());
  backend_.wait_for_load("a");
  bool ended = false;
  repository->load("c", {}, [&](Status status) {
    EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
    ended = true;
  });
  std::thread later([&] { backend_.release("a"); });
  repository.reset();
  later.join();
  EXPECT_TRUE(ended);
}

// Threads look a model up and use it while others reload and unload it.
TEST_F(ModelRepositoryTest, FindsWhileModelsComeAndGo) {
  add_model("steady");
  add_model("fickle");
  const auto repository = started();
  std::atomic<bool> stop = false;
  std::atomic<int> served = 0;
  std::vector<std::thread> clients;
  for (int t = 0; t < 3; ++t) {
    clients.emplace_back([&, t] {
      for (int i = 0; !stop; ++i) {
        EXPECT_TRUE(repository->find("steady", ""));
        const auto model = repository->find("fickle", i % 2 == 0 ? "" : "1");
        if (!model) {
          EXPECT_EQ(model.error().code, ErrorCode::kUnavailable) << model.error().message;
          continue;
        }
        infer(*model, fmt::format("{}-{}", t, i));
        ++served;
      }
    });
  }
  for (int i = 0; i < 30; ++i) {
    EXPECT_TRUE(repository->unload("fickle"));
    EXPECT_TRUE(load(*repository, "fickle"));
    temp_.write("repo/fickle/1/weights", std::to_string(i));
    EXPECT_TRUE(load(*repository, "fickle"));
    const int before = served;
    while (served == before) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_TRUE(repository->shut_down(kNever));
  EXPECT_EQ(answers_.size(), static_cast<std::size_t>(served));
  for (const auto& [id, finals] : answers_.finals()) EXPECT_EQ(finals, 1) << id;
}

}  // namespace
}  // namespace proa::lifecycle
