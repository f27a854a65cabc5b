#include "config/ensemble_fit.h"

#include <array>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::config {
namespace {

using testing::HasSubstr;

ModelConfig model(std::int32_t batch, Shape dims, DataType type = DataType::kFp32) {
  ModelConfig config;
  config.name = "m";
  config.max_batch_size = batch;
  config.inputs.push_back({.name = "x", .type = type, .dims = dims});
  config.outputs.push_back({.name = "y", .type = type, .dims = dims});
  return config;
}

// in -> first -> t -> second -> out
struct Case {
  ModelConfig ensemble = model(4, {8});
  ModelConfig first = model(4, {8});
  ModelConfig second = model(4, {8});

  Case() {
    ensemble.name = "e";
    ensemble.inputs[0].name = "in";
    ensemble.outputs[0].name = "out";
    ensemble.ensemble.emplace().steps = {
        {.model = "first", .inputs = {{"x", "in"}}, .outputs = {{"y", "t"}}},
        {.model = "second", .inputs = {{"x", "t"}}, .outputs = {{"y", "out"}}}};
  }
  std::string misfit() const {
    const std::array<const ModelConfig*, 2> steps = {&first, &second};
    const Status status = check_steps_fit(ensemble, steps);
    return status ? "" : status.error().message;
  }
};

TEST(EnsembleFitTest, TakesWhatAgrees) {
  Case all;
  EXPECT_EQ(all.misfit(), "");
  all.second = model(64, {Shape::kAny});
  EXPECT_EQ(all.misfit(), "");
}

TEST(EnsembleFitTest, ModelsThatDoNotBatchMaySeeTheBatchDimension) {
  Case mixed;
  mixed.second = model(0, {Shape::kAny, 8});
  EXPECT_EQ(mixed.misfit(), "");
  mixed.second = model(0, {8});  // a batch of one
  EXPECT_EQ(mixed.misfit(), "");
  mixed.second = model(0, {Shape::kAny, 9});
  EXPECT_THAT(mixed.misfit(), HasSubstr("inconsistent shape of tensor 't': output 'y' of model "
                                        "'first' (step 0) has [-1,8] and input 'x' of model "
                                        "'second' (step 1) has [-1,9]"));
}

TEST(EnsembleFitTest, TellsBothSidesOfAMisfit) {
  Case type;
  type.second = model(4, {8}, DataType::kInt32);
  EXPECT_THAT(type.misfit(), HasSubstr("inconsistent data type of tensor 't'"));

  Case batch;
  batch.second = model(2, {8});
  EXPECT_THAT(batch.misfit(),
              HasSubstr("allows maximum batch size 4, but it contains model "
                        "'second' (step 1), which only allows maximum batch size 2"));

  Case output;
  output.ensemble.outputs[0].dims = {9};
  EXPECT_THAT(output.misfit(), HasSubstr("output 'out' of the ensemble has [-1,9]"));
}

TEST(EnsembleFitTest, MapsNameWhatIsThere) {
  Case input;
  input.ensemble.ensemble->steps[1].inputs = {{"z", "t"}};
  EXPECT_THAT(input.misfit(), HasSubstr("step[1].input_map: model 'second' has no input 'z'; it "
                                        "has 'x'"));
  Case output;
  output.ensemble.ensemble->steps[0].outputs = {{"z", "t"}};
  EXPECT_THAT(output.misfit(), HasSubstr("step[0].output_map: model 'first' has no output 'z'"));

  Case missing;
  missing.second.inputs.push_back({.name = "more", .type = DataType::kFp32, .dims = {8}});
  EXPECT_THAT(missing.misfit(),
              HasSubstr("input 'more' of model 'second' (step 1) is mapped to no"));
  missing.second.inputs.back().optional = true;
  EXPECT_EQ(missing.misfit(), "");
}

}  // namespace
}  // namespace proa::config
