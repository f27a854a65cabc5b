#include "backends/index/vector_index.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <random>

#include "base/testing/temp_folder.h"
#include "gmock/gmock.h"

namespace proa::backends::index {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> random_vectors(std::size_t count, std::size_t dimension) {
  std::mt19937 draw(7);
  std::normal_distribution<float> normal;
  std::vector<float> vectors(count * dimension);
  for (float& value : vectors) value = normal(draw);
  return vectors;
}

VectorIndex build(std::vector<float> vectors, std::int64_t dimension, Metric metric,
                  Arrangement arrangement = Arrangement::kFlat) {
  auto index = VectorIndex::build(std::move(vectors), dimension, metric, arrangement);
  EXPECT_TRUE(index) << index.error().message;
  return *std::move(index);
}

TEST(VectorIndexTest, FindsTheNearestByEachMetric) {
  const std::vector<float> vectors = {1, 0, 0, 3, 4, 4};
  const std::vector<float> query = {0, 1};
  const auto l2 = build(vectors, 2, Metric::kL2).search(query, {.k = 3});
  EXPECT_THAT(l2->rows, ElementsAre(0, 1, 2));
  EXPECT_THAT(l2->scores, ElementsAre(2, 4, 25));
  const auto inner = build(vectors, 2, Metric::kInnerProduct).search(query, {.k = 3});
  EXPECT_THAT(inner->rows, ElementsAre(2, 1, 0));
  EXPECT_THAT(inner->scores, ElementsAre(4, 3, 0));
  const auto cosine = build(vectors, 2, Metric::kCosine).search(query, {.k = 3});
  EXPECT_THAT(cosine->rows, ElementsAre(1, 2, 0));
  EXPECT_THAT(cosine->scores,
              ElementsAre(testing::FloatEq(1), testing::FloatNear(0.70711F, 1e-5F), 0));
}

TEST(VectorIndexTest, GivesNothingWhereThereAreFewerVectors) {
  const auto found = build({1, 0, 0, 1}, 2, Metric::kL2).search(std::vector<float>{0, 1}, {.k = 4});
  EXPECT_THAT(found->rows, ElementsAre(1, 0, -1, -1));
}

TEST(VectorIndexTest, ReadsWhatItWrites) {
  const TempFolder folder;
  const auto file = folder.path() / "index.faiss";
  for (const Arrangement arrangement : {Arrangement::kFlat, Arrangement::kHnsw}) {
    const VectorIndex written = build(random_vectors(500, 16), 16, Metric::kCosine, arrangement);
    ASSERT_TRUE(written.write(file));
    const auto read = VectorIndex::read(file, Metric::kCosine);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->size(), 500);
    EXPECT_EQ(read->dimension(), 16);
    EXPECT_EQ(read->arrangement(), arrangement);
    EXPECT_EQ(read->id(3), 3);
    const auto queries = random_vectors(3, 16);
    EXPECT_EQ(read->search(queries, {})->rows, written.search(queries, {})->rows);
  }
}

TEST(VectorIndexTest, AWiderSearchOfTheGraphFindsMore) {
  const auto vectors = random_vectors(4000, 32);
  const auto queries = std::vector<float>(vectors.begin(), vectors.begin() + 100 * 32);
  const VectorIndex flat = build(vectors, 32, Metric::kL2);
  const VectorIndex graph = build(vectors, 32, Metric::kL2, Arrangement::kHnsw);
  const auto exact = flat.search(queries, {.k = 10});
  const double narrow = recall(*exact, *graph.search(queries, {.k = 10, .ef_search = 10}), 10);
  const double wide = recall(*exact, *graph.search(queries, {.k = 10, .ef_search = 400}), 10);
  EXPECT_LT(narrow, wide);
  EXPECT_GT(wide, 0.97);
  EXPECT_EQ(recall(*exact, *exact, 10), 1);
}

TEST(VectorIndexTest, SaysWhatIsWrongWithAFile) {
  const TempFolder folder;
  const auto file = folder.path() / "index.faiss";
  EXPECT_THAT(VectorIndex::read(file, {}).error().message, HasSubstr("proa index build"));
  std::ofstream(file) << "not an index at all";
  EXPECT_THAT(VectorIndex::read(file, {}).error().message,
              HasSubstr("index.faiss is not an index that faiss can read"));
  ASSERT_TRUE(build({1, 0, 0, 1}, 2, Metric::kL2).write(file));
  EXPECT_THAT(VectorIndex::read(file, Metric::kCosine).error().message,
              HasSubstr("its metric is l2, the parameter 'metric' says cosine"));
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 3);
  EXPECT_THAT(VectorIndex::read(file, {}).error().message, HasSubstr("is not an index"));
}

TEST(VectorIndexTest, RefusesVectorsWithoutAnAnswer) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(
      VectorIndex::build({1, 0, nan, 1}, 2, Metric::kL2, Arrangement::kFlat).error().message,
      HasSubstr("vector 1: a value of the vector is not finite"));
  const VectorIndex index = build({1, 0}, 2, Metric::kCosine);
  EXPECT_THAT(index.check_query(std::vector<float>{0, 0}).error().message, HasSubstr("all zeros"));
  EXPECT_TRUE(index.check_query(std::vector<float>{0, 1}));
  EXPECT_TRUE(build({1, 0}, 2, Metric::kL2).check_query(std::vector<float>{0, 0}));
}

}  // namespace
}  // namespace proa::backends::index
