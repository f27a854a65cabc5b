#include "core/warm_up.h"

#include <atomic>
#include <cstring>

#include "core/model.h"
#include "core/statistics.h"
#include "core/testing/model_runtime.h"
#include "core/testing/puppet_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::core {
namespace {

using testing::HasSubstr;

// What the instances of one model were given.
struct Seen {
  std::atomic<int> batches = 0;
  std::atomic<int> rows = 0;
  std::atomic<int> instances = 0;
  bool fail = false;
};

class CountingInstance final : public Instance {
 public:
  explicit CountingInstance(Seen& seen) : seen_(seen) { ++seen_.instances; }
  void start(std::unique_ptr<Batch> batch, Done done) override {
    ++seen_.batches;
    seen_.rows += static_cast<int>(batch->size());
    if (seen_.fail) {
      batch->fail(error::internal("out of luck"));
    } else {
      echo_inputs(*batch);
    }
    done(std::move(batch));
  }

 private:
  Seen& seen_;
};

class CountingModel final : public LoadedModel {
 public:
  explicit CountingModel(Seen& seen) : seen_(seen) {}
  Execution execution() const override { return Execution::kBlocking; }
  Result<std::unique_ptr<Instance>> create_instance(const InstancePlacement&) override {
    return std::make_unique<CountingInstance>(seen_);
  }

 private:
  Seen& seen_;
};

config::ModelConfig config_of(int instances) {
  config::ModelConfig config;
  config.name = "m";
  config.max_batch_size = 8;
  config.inputs = {{.name = "x", .type = DataType::kFp32, .dims = {2}}};
  config.outputs = {{.name = "y", .type = DataType::kFp32, .dims = {2}}};
  config.instance_groups = {{.kind = config::InstanceGroup::Kind::kCpu, .count = instances}};
  return config;
}

WarmUpSample sample_of(std::int64_t rows, int count) {
  Buffer buffer = Buffer::allocate(static_cast<std::size_t>(rows) * 2 * sizeof(float));
  std::memset(buffer.data(), 0, buffer.size());
  return {"sample", count, {{"x", {DataType::kFp32, {rows, 2}, BufferView(std::move(buffer))}}}};
}

class WarmUpTest : public testing::Test {
 protected:
  Result<std::shared_ptr<Model>> create(int instances, std::vector<WarmUpSample> samples) {
    Model::Options options = runtime_.options();
    options.warm_up = std::move(samples);
    return Model::create(config_of(instances), 1, std::make_unique<CountingModel>(seen_), options);
  }
  Seen seen_;
  ModelRuntime runtime_;
};

TEST_F(WarmUpTest, EveryInstanceAnswersEverySampleBeforeTheModelIsThere) {
  const auto model = create(3, {sample_of(4, 5), sample_of(1, 1)});
  ASSERT_TRUE(model);
  EXPECT_EQ(seen_.instances, 3);
  EXPECT_EQ(seen_.batches, 3 * 6);
  EXPECT_EQ(seen_.rows, 3 * (4 * 5 + 1));
  EXPECT_EQ((*model)->statistics().snapshot().success.count, 0u);
}

TEST_F(WarmUpTest, AFailedAnswerFailsTheLoad) {
  seen_.fail = true;
  EXPECT_EQ(create(2, {sample_of(1, 100)}).error().message, "model_warmup 'sample': out of luck");
  EXPECT_EQ(seen_.batches, 2);  // one by each instance
}

TEST_F(WarmUpTest, ASampleThatDoesNotFitFailsTheLoad) {
  EXPECT_THAT(create(1, {sample_of(9, 1)}).error().message,
              testing::AllOf(HasSubstr("model_warmup 'sample': "), HasSubstr("<= 8")));
  WarmUpSample nameless = sample_of(1, 1);
  nameless.inputs[0].name = "z";
  EXPECT_THAT(create(1, {nameless}).error().message, HasSubstr("'z'"));
  EXPECT_EQ(seen_.batches, 0);
}

// Keeps every batch until there are two.
class PairInstance final : public Instance {
 public:
  int max_in_flight() const override { return 2; }
  void start(std::unique_ptr<Batch> batch, Done done) override {
    echo_inputs(*batch);
    held_.emplace_back(std::move(batch), std::move(done));
    if (held_.size() < 2) return;
    for (auto& [full, end] : std::exchange(held_, {})) end(std::move(full));
  }

 private:
  std::vector<std::pair<std::unique_ptr<Batch>, Done>> held_;
};

class PairModel final : public LoadedModel {
 public:
  Execution execution() const override { return Execution::kAsync; }
  Result<std::unique_ptr<Instance>> create_instance(const InstancePlacement&) override {
    return std::make_unique<PairInstance>();
  }
};

TEST_F(WarmUpTest, FillsAnInstancesSlots) {
  Model::Options options = runtime_.options();
  options.warm_up = {sample_of(1, 4)};
  EXPECT_TRUE(Model::create(config_of(1), 1, std::make_unique<PairModel>(), options));
}

}  // namespace
}  // namespace proa::core
