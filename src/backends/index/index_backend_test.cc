#include "backends/index/index_backend.h"

#include <cstring>
#include <fstream>
#include <limits>

#include "backends/index/vector_index.h"
#include "base/testing/temp_folder.h"
#include "core/testing/requests.h"
#include "gmock/gmock.h"
#include "tensor/bytes_tensor.h"

namespace proa::backends::index {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class IndexBackendTest : public testing::Test {
 protected:
  IndexBackendTest() {
    write({1, 0, 0, 3, 4, 4}, Metric::kCosine);
    config_.name = "photos";
    config_.default_model_filename = "index.faiss";
    config_.parameters = {{"k", "2"}, {"metric", "cosine"}};
  }

  void write(const std::vector<float>& vectors, Metric metric) {
    const auto index = VectorIndex::build(vectors, 2, metric, Arrangement::kFlat);
    ASSERT_TRUE(index->write(folder_.path() / "index.faiss"));
  }
  void write_payloads(std::string_view text) {
    std::ofstream(folder_.path() / kPayloadFile) << text;
  }

  core::ModelFiles files() const { return {folder_.path(), folder_.path(), 1}; }

  // What is wrong with the model; "" when it loads.
  std::string problem() {
    config::ModelConfig config = config_;
    const Status completed = backend_->complete_config(files(), false, config);
    if (!completed) return completed.error().message;
    const auto loaded = backend_->load(files(), config);
    return loaded ? "" : loaded.error().message;
  }

  // The responses to requests with one query each.
  std::vector<core::Response> ask(const std::vector<std::vector<float>>& queries) {
    EXPECT_TRUE(backend_->complete_config(files(), false, config_));
    const auto model = *backend_->load(files(), config_);
    const auto instance = *model->create_instance({});
    std::vector<std::unique_ptr<core::Request>> requests;
    for (const std::vector<float>& query : queries) {
      requests.push_back(core::float_request("", 1, 2));
      std::memcpy(requests.back()->inputs[0].data.data(), query.data(), 8);
    }
    std::vector<core::Response> responses;
    instance->start(
        std::make_unique<core::Batch>(std::move(requests)),
        [&](std::unique_ptr<core::Batch> batch) { responses = batch->take_responses(); });
    return responses;
  }

  const TempFolder folder_;
  config::ModelConfig config_;
  std::unique_ptr<core::Backend> backend_ = make_index_backend(&steady_clock());
};

std::vector<std::int64_t> numbers(const Tensor& tensor) {
  std::vector<std::int64_t> values(tensor.data.size / sizeof(std::int64_t));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size);
  return values;
}

TEST_F(IndexBackendTest, AnswersABatchOfQueriesWithIdsScoresAndPayloads) {
  write_payloads("east.png\nnorth.png\nnorth-east.png\n");
  const auto responses = ask({{0, 1}, {5, 0}});
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_THAT(numbers(responses[0].outputs[0]), ElementsAre(1, 2));
  EXPECT_THAT(core::floats(responses[0].outputs[1]),
              ElementsAre(testing::FloatEq(1), testing::FloatNear(0.70711F, 1e-5F)));
  EXPECT_THAT(*read_bytes_elements(responses[0].outputs[2].data.bytes(), 2),
              ElementsAre("north.png", "north-east.png"));
  EXPECT_THAT(numbers(responses[1].outputs[0]), ElementsAre(0, 2));
  EXPECT_EQ(responses[1].outputs[0].shape, Shape({1, 2}));
}

TEST_F(IndexBackendTest, CompletesItsSignatureFromTheFile) {
  ASSERT_TRUE(backend_->complete_config(files(), false, config_));
  EXPECT_EQ(config_.inputs[0].dims, Shape({2}));
  ASSERT_EQ(config_.outputs.size(), 2u);  // without payloads
  EXPECT_EQ(config_.outputs[0].name, "ids");
  EXPECT_EQ(config_.outputs[0].dims, Shape({2}));
  EXPECT_EQ(config_.max_batch_size, 64);
}

TEST_F(IndexBackendTest, AQueryWithoutAnAnswerFailsByItself) {
  const auto responses = ask({{0, 0}, {0, 1}, {std::numeric_limits<float>::infinity(), 1}});
  EXPECT_THAT(responses[0].error->message, HasSubstr("query 0: the vector is all zeros"));
  EXPECT_THAT(numbers(responses[1].outputs[0]), ElementsAre(1, 2));
  EXPECT_THAT(responses[2].error->message, HasSubstr("not finite"));
}

TEST_F(IndexBackendTest, FillsUpWithMinusOne) {
  config_.parameters["k"] = "5";
  EXPECT_THAT(numbers(ask({{0, 1}})[0].outputs[0]), ElementsAre(1, 2, 0, -1, -1));
}

TEST_F(IndexBackendTest, SaysWhatIsWrongWithTheConfiguration) {
  EXPECT_EQ(problem(), "");
  const config::ModelConfig fine = config_;
  config_.parameters["k"] = "none";
  EXPECT_EQ(problem(),
            "model 'photos': parameter 'k' is \"none\"; it must be a whole number from 1 to 10000");
  config_ = fine;
  config_.parameters["metric"] = "near";
  EXPECT_THAT(problem(), HasSubstr("it must be cosine, inner_product or l2"));
  config_.parameters["metric"] = "l2";
  EXPECT_THAT(problem(), HasSubstr("build the index anew"));
  config_ = fine;
  config_.inputs = {{.name = "q", .type = DataType::kFp32, .dims = {3}}};
  EXPECT_THAT(problem(), HasSubstr("input 'q' has dims [3], this index has [2] there"));
  config_ = fine;
  config_.outputs = {{.name = "names", .type = DataType::kBytes, .dims = {2}}};
  EXPECT_THAT(problem(), HasSubstr("no payloads.txt"));
}

TEST_F(IndexBackendTest, WantsOnePayloadForEachVector) {
  write_payloads("one\ntwo");
  EXPECT_THAT(problem(), HasSubstr("has 2 lines, but the index has 3 vectors"));
  write_payloads("one\ntw\xff\nthree");
  EXPECT_THAT(problem(), HasSubstr("line 2 is not UTF-8"));
}

}  // namespace
}  // namespace proa::backends::index
