// What is loaded, kept and unloaded when models change, by the control mode.
#include <sys/stat.h>

#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lifecycle/testing/repository_fixture.h"

namespace proa::lifecycle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(ModelRepositoryTest, LoadsNothingThatHasNotChanged) {
  add_model("m");
  const auto repository = started();
  const auto before = *repository->find("m", "");
  ASSERT_TRUE(load(*repository, "m"));
  EXPECT_EQ(*repository->find("m", ""), before);

  // Another version: the old one goes on as it is.
  temp_.write("repo/m/config.pbtxt", "backend: 'scripted' version_policy { all {} }");
  temp_.make_folder("repo/m/2");
  ASSERT_TRUE(load(*repository, "m"));
  EXPECT_THAT(states(*repository), ElementsAre("m/1 READY", "m/2 READY"));
  EXPECT_EQ(*repository->find("m", "1"), before);

  // Shared files concern every version.
  temp_.write("repo/m/labels.txt", "a");
  ASSERT_TRUE(load(*repository, "m"));
  EXPECT_NE(*repository->find("m", "1"), before);
}

TEST_F(ModelRepositoryTest, AFailedVersionLeavesTheOthersAndIsTriedAgain) {
  add_model("m", "backend: 'scripted' version_policy { all {} }");
  temp_.write("repo/m/2/broken", "");
  const auto repository = started();
  EXPECT_THAT(states(*repository), ElementsAre("m/1 READY", "m/2 UNAVAILABLE"));
  const auto first = *repository->find("m", "1");
  temp_.write("repo/m/3/broken", "");
  EXPECT_THAT(load(*repository, "m").error().message,
              HasSubstr("version 2 is at UNAVAILABLE state: version 2 is broken; version 3 is at"));
  EXPECT_THAT(states(*repository), ElementsAre("m/1 READY", "m/2 UNAVAILABLE", "m/3 UNAVAILABLE"));
  std::filesystem::remove(temp_.path() / "repo/m/2/broken");
  std::filesystem::remove_all(temp_.path() / "repo/m/3");
  ASSERT_TRUE(load(*repository, "m"));
  EXPECT_THAT(states(*repository), ElementsAre("m/1 READY", "m/2 READY"));
  EXPECT_EQ(*repository->find("m", "1"), first);
}

TEST_F(ModelRepositoryTest, TriesVersionsAgainThatFailToLoad) {
  add_model("m");
  temp_.write("repo/m/1/broken", "");
  auto options = this->options();
  options.load_retries = 2;
  ModelRepository repository(std::move(options));
  ASSERT_TRUE(repository.start());
  ASSERT_TRUE(repository.wait_until_loaded(kNever));
  EXPECT_EQ(backend_.loads("m"), 3);
  EXPECT_THAT(states(repository), ElementsAre("m/1 UNAVAILABLE"));
}

class ExplicitModeTest : public ModelRepositoryTest {
 protected:
  std::unique_ptr<ModelRepository> started(std::vector<std::string> models = {}) {
    auto options = this->options();
    options.mode = ControlMode::kExplicit;
    options.startup_models = std::move(models);
    options.strict_readiness = true;
    auto repository = std::make_unique<ModelRepository>(std::move(options));
    EXPECT_TRUE(repository->start());
    EXPECT_TRUE(repository->wait_until_loaded(kNever));
    return repository;
  }
  static std::vector<std::string> listed(ModelRepository& repository) {
    std::promise<std::vector<std::string>> promise;
    repository.list([&](const Result<std::vector<VersionStatus>>& lines) {
      std::vector<std::string> text;
      for (const VersionStatus& line : *lines) {
        text.push_back(line.model + "/" + line.version + " " +
                       std::string(version_state_name(line.state)));
      }
      promise.set_value(std::move(text));
    });
    return promise.get_future().get();
  }
};

TEST_F(ExplicitModeTest, LoadsWhatItIsToldTo) {
  for (const char* name : {"a", "b", "c"}) add_model(name);
  const auto repository = started({"b"});
  EXPECT_THAT(listed(*repository), ElementsAre("a/ UNKNOWN", "b/1 READY", "c/ UNKNOWN"));
  EXPECT_EQ(repository->find("a", "").error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(load(*repository, "a"));
  ASSERT_TRUE(repository->unload("b"));
  EXPECT_THAT(listed(*repository), ElementsAre("a/1 READY", "b/1 UNAVAILABLE", "c/ UNKNOWN"));
  EXPECT_TRUE(repository->ready());  // strictly: what was unloaded does not count
  EXPECT_EQ(load(*repository, "none").error().code, ErrorCode::kNotFound);
  EXPECT_THAT(states(*repository), ElementsAre("a/1 READY", "b/1 UNAVAILABLE"));
  EXPECT_EQ(started({"*"})->ready_models().size(), 3u);
}

// As of one that a client asks for in vain.
TEST_F(ExplicitModeTest, NothingIsKeptOfAModelThatIsNowhere) {
  add_model("a");
  LoadSummary summary;
  auto options = this->options();
  options.mode = ControlMode::kExplicit;
  options.startup_models = {"a", "none"};
  options.strict_readiness = true;
  options.on_loaded = [&](const LoadSummary& end) { summary = end; };
  {
    ModelRepository repository(std::move(options));
    ASSERT_TRUE(repository.start());
    ASSERT_TRUE(repository.wait_until_loaded(kNever));
    EXPECT_EQ(load(repository, "neither").error().code, ErrorCode::kNotFound);
    EXPECT_THAT(states(repository), ElementsAre("a/1 READY"));
    EXPECT_THAT(repository.find("none", "").error().message,
                HasSubstr("unknown model: 'none' is not found"));
    EXPECT_FALSE(repository.ready());  // strictly: not all that was asked for is there
    add_model("none");
    ASSERT_TRUE(load(repository, "none"));
    EXPECT_TRUE(repository.ready());
    EXPECT_THAT(states(repository), ElementsAre("a/1 READY", "none/1 READY"));
  }
  EXPECT_EQ(summary.ready, 1u);
  EXPECT_THAT(summary.failed, ElementsAre("none"));
}

TEST_F(ExplicitModeTest, LoadsAndUnloadsThatWaitAreBounded) {
  add_model("m");
  constexpr std::size_t kNames =
      ModelRepository::kMostRequests / ModelRepository::kMostRequestsOfOne;
  const auto name = [](std::size_t i) { return fmt::format("x{}", i % kNames); };
  for (std::size_t i = 0; i < kNames; ++i) add_model(name(i));
  ModelRepository::Options options = this->options();
  options.mode = ControlMode::kExplicit;
  options.load_threads = 1;
  const auto repository = std::make_unique<ModelRepository>(std::move(options));
  ASSERT_TRUE(repository->start());
  backend_.hold("m");
  std::promise<Status> first;
  repository->load("m", {}, [&](Status status) { first.set_value(std::move(status)); });
  backend_.wait_for_load("m");
  const auto expect_refused = [](const Status& status, std::string_view waiting) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(status.error().message,
                HasSubstr(fmt::format("{} requests to load or unload models", waiting)));
  };
  for (std::size_t i = 1; i < ModelRepository::kMostRequests; ++i) {
    repository->load(name(i), {}, [](const Status&) {});
  }
  expect_refused(load(*repository, "m"), "10000");
  expect_refused(load(*repository, "other"), "10000");
  for (std::size_t i = 0; i < ModelRepository::kMoreUnloads; ++i) {
    ASSERT_TRUE(repository->unload(name(i)));
  }
  expect_refused(repository->unload("other"), "11000");
  backend_.release("m");
  EXPECT_TRUE(first.get_future().get());
  Status again = error::unavailable("not asked yet");
  while (!again && again.error().code == ErrorCode::kUnavailable) again = load(*repository, "x0");
  EXPECT_TRUE(again);
  EXPECT_TRUE(repository->find("m", ""));
  EXPECT_TRUE(repository->find("x0", ""));
}

TEST_F(ExplicitModeTest, ManyRequestsForOneModelLeaveRoomForOthers) {
  add_model("m");
  add_model("other");
  const auto repository = started();
  backend_.hold("m");
  repository->load("m", {}, [](const Status&) {});
  backend_.wait_for_load("m");
  for (std::size_t i = 1; i < ModelRepository::kMostRequestsOfOne; ++i) {
    ASSERT_TRUE(repository->unload("m"));
  }
  const Status refused = load(*repository, "m");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("1000 of them for this one"));
  EXPECT_TRUE(load(*repository, "other"));
  EXPECT_TRUE(repository->unload("m"));
  backend_.release("m");
  wait_for(*repository, {"m/1 UNAVAILABLE", "other/1 READY"});
}

TEST_F(ExplicitModeTest, NoLoadBeginsOnceTheServerEnds) {
  for (const char* name : {"a", "b", "c"}) add_model(name);
  ModelRepository::Options options = this->options();
  options.mode = ControlMode::kExplicit;
  options.load_threads = 1;
  options.startup_models = {"c"};
  ModelRepository repository(std::move(options));
  ASSERT_TRUE(repository.start());
  ASSERT_TRUE(repository.wait_until_loaded(kNever));
  backend_.hold("a");
  repository.load("a", {}, [](const Status&) {});
  backend_.wait_for_load("a");
  std::promise<Status> queued;
  repository.load("b", {}, [&](Status status) { queued.set_value(std::move(status)); });
  repository.begin_shut_down();
  EXPECT_TRUE(repository.find("c", ""));
  backend_.release("a");
  EXPECT_THAT(queued.get_future().get().error().message, HasSubstr("shutting down"));
  EXPECT_EQ(backend_.loads("b"), 0);
  EXPECT_TRUE(repository.shut_down(kNever));
}

TEST_F(ExplicitModeTest, ListingsThatWaitAreBounded) {
  add_model("m");
  const auto repository = started();
  std::promise<void> begun, go_on;
  repository->list([&](const auto&) {
    begun.set_value();
    go_on.get_future().wait();
  });
  begun.get_future().wait();
  std::atomic<std::size_t> listed = 0;
  for (std::size_t i = 0; i < ModelRepository::kMostListings; ++i) {
    repository->list([&](const auto& lines) { listed += lines.has_value() ? lines->size() : 0; });
  }
  std::optional<Error> refused;
  repository->list([&](const auto& lines) { refused = lines.error(); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, ErrorCode::kUnavailable);
  EXPECT_THAT(refused->message, HasSubstr("1000 requests for the repository's index wait"));
  EXPECT_EQ(listed, 0u);
  go_on.set_value();
  while (listed < ModelRepository::kMostListings) std::this_thread::yield();
  EXPECT_THAT(this->listed(*repository), ElementsAre("m/ UNKNOWN"));
}

TEST_F(ExplicitModeTest, TheLastOfManyDecides) {
  add_model("m");
  const auto repository = started();
  backend_.hold("m");
  std::vector<std::string> ends;
  std::promise<void> last;
  repository->load("m", {}, [&](const Status& status) { ends.push_back(status ? "1" : "1!"); });
  backend_.wait_for_load("m");
  ASSERT_TRUE(repository->unload("m"));
  LoadRequest request{.config_json = R"({"backend": "scripted", "max_batch_size": 3})"};
  repository->load("m", request,
                   [&](const Status& status) { ends.push_back(status ? "2" : "2!"); });
  ASSERT_TRUE(repository->unload("m"));
  repository->load("m", {}, [&](const Status& status) {
    ends.push_back(status ? "3" : "3!");
    last.set_value();
  });
  backend_.release("m");
  last.get_future().wait();
  EXPECT_THAT(ends, ElementsAre("1", "2", "3"));
  EXPECT_EQ((*repository->find("m", ""))->config().max_batch_size, 0);
  EXPECT_THAT(states(*repository), ElementsAre("m/1 READY"));
}

TEST_F(ExplicitModeTest, FilesOfARequestLiveAsLongAsTheirVersion) {
  add_model("m", kPuppet);
  const auto repository = started({"m"});
  LoadRequest request{.config_json = R"({"backend": "scripted", "parameters": {"puppet": {}}})",
                      .files = {{"4/model.bin", "x"}, {"labels.txt", "a"}}};
  ASSERT_TRUE(load(*repository, "m", request));
  EXPECT_THAT(states(*repository), ElementsAre("m/1 UNAVAILABLE", "m/4 READY"));
  const std::filesystem::path files = backend_.last_folder();
  EXPECT_TRUE(std::filesystem::exists(files / "model.bin"));
  EXPECT_FALSE(files.native().starts_with(temp_.path().native()));
  infer(*repository->find("m", ""), "r");
  ASSERT_TRUE(load(*repository, "m"));
  EXPECT_THAT(states(*repository), ElementsAre("m/1 READY", "m/4 UNLOADING"));
  EXPECT_TRUE(std::filesystem::exists(files / "model.bin"));
  backend_.puppet().finish();
  while (std::filesystem::exists(files)) std::this_thread::yield();
  for (const char* bad : {"../x", "/x", "1/../../../x", ""}) {
    request.files = {{bad, "x"}};
    EXPECT_EQ(load(*repository, "m", request).error().code, ErrorCode::kInvalidArgument) << bad;
  }
  request.files = {{"1/x", "x"}};
  EXPECT_EQ(load(*repository, "../m", request).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(load(*repository, "a/b", request).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(ExplicitModeTest, ANameThatNoModelCanHaveLeavesNothingBehind) {
  add_model("m");
  temp_.make_folder("repo/not utf-8 \xff/1");
  const auto repository = started({"*"});
  const LoadRequest files{.config_json = R"({"backend": "scripted"})", .files = {{"1/x", "x"}}};
  for (const std::string& name :
       {std::string("a/b"), std::string(".."), std::string(), std::string(256, 'x'),
        std::string("\xff"), std::string("a\nb")}) {
    for (const LoadRequest& request : {LoadRequest(), files}) {
      const Status status = load(*repository, name, request);
      EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
      EXPECT_THAT(status.error().message, HasSubstr("is no model name"));
    }
  }
  EXPECT_THAT(listed(*repository), ElementsAre("m/1 READY"));
  EXPECT_TRUE(repository->ready());

  auto options = this->options();
  options.mode = ControlMode::kExplicit;
  options.startup_models = {"a/b"};
  EXPECT_THAT(ModelRepository(std::move(options)).start().error().message,
              HasSubstr("'a/b' is no model name"));
}

TEST_F(ExplicitModeTest, AFailedLoadOfNothingIsNoWishToKeepIt) {
  add_model("other");
  const auto repository = started();
  EXPECT_FALSE(load(*repository, "step"));
  add_model("step");
  add_model("chain",
            "platform: 'ensemble' input { name: 'x' data_type: TYPE_FP32 dims: 2 } "
            "output { name: 'y' data_type: TYPE_FP32 dims: 2 } ensemble_scheduling { step { "
            "model_name: 'step' model_version: -1 input_map { key: 'x' value: 'x' } "
            "output_map { key: 'y' value: 'y' } } }");
  ASSERT_TRUE(load(*repository, "chain"));
  ASSERT_TRUE(repository->unload("chain", true));
  // The thread that loaded the step may still tell others of it.
  wait_for(*repository, {"chain/1 UNAVAILABLE", "step/1 UNAVAILABLE"});
}

TEST_F(ExplicitModeTest, ForgetsAFailedLoadOfFilesWithoutAFolder) {
  add_model("m");
  const auto repository = started({"m"});
  const LoadRequest broken{.config_json = R"({"backend": "scripted"})",
                           .files = {{"1/broken", ""}}};
  EXPECT_THAT(load(*repository, "ghost", broken).error().message, HasSubstr("is broken"));
  EXPECT_THAT(states(*repository), ElementsAre("m/1 READY"));
  EXPECT_TRUE(repository->ready());
  add_model("real");
  ASSERT_FALSE(load(*repository, "real", broken));
  EXPECT_THAT(states(*repository), ElementsAre("m/1 READY", "real/1 UNAVAILABLE"));
}

TEST_F(ExplicitModeTest, UnloadClearsAFailedLoad) {
  add_model("good");
  add_model("bad");
  temp_.write("repo/bad/1/broken", "");
  add_model("odd", "no configuration");
  const auto repository = started({"good"});
  for (const char* name : {"bad", "odd"}) {
    ASSERT_FALSE(load(*repository, name));
    EXPECT_FALSE(repository->ready());
    ASSERT_TRUE(repository->unload(name));
    EXPECT_TRUE(repository->ready()) << name;
  }
  for (const VersionStatus& line : repository->index()) {
    EXPECT_EQ(line.reason, line.model == "good" ? "" : kUnloaded) << line.model;
  }
}

TEST_F(ExplicitModeTest, RefusesAModelFileThatWouldBlockItsReader) {
  add_model("m");
  ASSERT_EQ(::mkfifo((temp_.path() / "repo/m/1/model.onnx").c_str(), 0600), 0);
  EXPECT_THAT(load(*started(), "m").error().message, HasSubstr("is not a regular file"));
}

TEST_F(ExplicitModeTest, SaysThatTheWholeRepositoryIsMissing) {
  add_model("m");
  const auto repository = started({"m"});
  const std::filesystem::path root = temp_.path() / "repo";
  std::filesystem::rename(root, temp_.path() / "away");
  for (const char* name : {"m", "other"}) {
    const Error error = load(*repository, name).error();
    EXPECT_EQ(error.code, ErrorCode::kUnavailable);
    EXPECT_THAT(error.message, HasSubstr("repository '" + root.native() + "' is not there"));
  }
  EXPECT_THAT(states(*repository), ElementsAre("m/1 READY"));
}

class PollModeTest : public ModelRepositoryTest {
 protected:
  std::unique_ptr<ModelRepository> polling() {
    auto options = this->options();
    options.mode = ControlMode::kPoll;
    options.poll_interval = std::chrono::milliseconds(1);
    auto repository = std::make_unique<ModelRepository>(std::move(options));
    EXPECT_TRUE(repository->start());
    EXPECT_TRUE(repository->wait_until_loaded(kNever));
    return repository;
  }
};

TEST_F(PollModeTest, FollowsModelsAndVersions) {
  add_model("m", "backend: 'scripted' version_policy { all {} }");
  const auto repository = polling();
  temp_.make_folder("repo/m/2");
  wait_for(*repository, {"m/1 READY", "m/2 READY"});
  add_model("n");
  wait_for(*repository, {"m/1 READY", "m/2 READY", "n/1 READY"});
  std::filesystem::remove_all(temp_.path() / "repo/m/1");
  std::filesystem::remove_all(temp_.path() / "repo/n");
  wait_for(*repository, {"m/1 UNAVAILABLE", "m/2 READY"});
  EXPECT_EQ(repository->find("n", "").error().code, ErrorCode::kNotFound);
  add_model("n");
  wait_for(*repository, {"m/1 UNAVAILABLE", "m/2 READY", "n/1 READY"});
}

TEST_F(PollModeTest, AFailedReloadIsTriedOnceAndAgainWhenTheFilesChange) {
  add_model("m");
  const auto repository = polling();
  const auto first = *repository->find("m", "");
  temp_.write("repo/m/1/broken", "");
  while (repository->index()[0].reason.empty()) std::this_thread::yield();
  EXPECT_THAT(repository->index()[0].reason, HasSubstr("serves on"));
  EXPECT_EQ(*repository->find("m", ""), first);
  const int loads = backend_.loads("m");
  add_model("n");  // its load shows that the poll has gone on
  wait_for(*repository, {"m/1 READY", "n/1 READY"});
  EXPECT_EQ(backend_.loads("m"), loads);
  temp_.write("repo/m/1/other", "");
  while (backend_.loads("m") == loads) std::this_thread::yield();
  std::filesystem::remove(temp_.path() / "repo/m/1/broken");
  while (!repository->index()[0].reason.empty()) std::this_thread::yield();
  EXPECT_NE(*repository->find("m", ""), first);
}

}  // namespace
}  // namespace proa::lifecycle
