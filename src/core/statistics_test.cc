#include "core/statistics.h"

#include <gtest/gtest.h>

#include "base/testing/manual_clock.h"
#include "core/batch.h"
#include "core/testing/requests.h"

namespace proa::core {
namespace {

using std::chrono::microseconds;

class ModelStatisticsTest : public ::testing::Test {
 protected:
  TimePoint at(std::int64_t us) const { return start_ + microseconds(us); }

  // Requests of 1 and 2 rows that came at 0 and 10 us, were computed from 100 to 400 us.
  Batch finished_batch() const {
    std::vector<std::unique_ptr<Request>> requests;
    requests.push_back(float_request("a", 1));
    requests.push_back(float_request("b", 2));
    requests[0]->times.received = at(-5);
    requests[0]->times.enqueued = at(0);
    requests[1]->times.enqueued = at(10);
    Batch batch(std::move(requests));
    batch.started = at(100);
    batch.inputs_ready = at(120);
    batch.computed = at(390);
    batch.finished = at(400);
    batch.close_reason = CloseReason::kDelay;
    return batch;
  }

  ManualClock clock_;
  const TimePoint start_ = clock_.now();
  ModelStatistics statistics_{2, clock_};
};

TEST_F(ModelStatisticsTest, StartsAtZero) {
  const auto counts = statistics_.snapshot();
  EXPECT_EQ(counts.success.count, 0u);
  EXPECT_EQ(counts.last_inference_ms, 0u);
  EXPECT_EQ(counts.instance_busy_ns, (std::vector<std::uint64_t>{0, 0}));
}

TEST_F(ModelStatisticsTest, CountsTimesPerRequestAndPerExecution) {
  statistics_.record_batch(finished_batch(), 1, std::vector<Response>(2));
  const auto counts = statistics_.snapshot();
  EXPECT_EQ(counts.success.count, 2u);
  EXPECT_EQ(counts.success.ns, 405'000u + 390'000u);
  EXPECT_EQ(counts.queue.ns, 100'000u + 90'000u);
  EXPECT_EQ(counts.compute_input.ns, 2 * 20'000u);
  EXPECT_EQ(counts.compute_infer.ns, 2 * 270'000u);
  EXPECT_EQ(counts.compute_output.ns, 2 * 10'000u);
  EXPECT_EQ(counts.inference_count, 3u);
  EXPECT_EQ(counts.execution_count, 1u);
  ASSERT_EQ(counts.batch_sizes.count(3), 1u);
  EXPECT_EQ(counts.batch_sizes.at(3).compute_infer.count, 1u);
  EXPECT_EQ(counts.batch_sizes.at(3).compute_infer.ns, 270'000u);
  EXPECT_EQ(counts.close_reasons[static_cast<std::size_t>(CloseReason::kDelay)], 1u);
  EXPECT_EQ(counts.instance_busy_ns, (std::vector<std::uint64_t>{0, 300'000}));
}

TEST_F(ModelStatisticsTest, RecordsDistributions) {
  statistics_.record_batch(finished_batch(), 0, std::vector<Response>(2));
  EXPECT_EQ(statistics_.request_us().count(), 2u);
  EXPECT_EQ(statistics_.request_us().sum(), 405u + 390u);
  EXPECT_EQ(statistics_.queue_us().sum(), 190u);
  EXPECT_EQ(statistics_.compute_us().sum(), 600u);
  EXPECT_EQ(statistics_.batch_size().count(), 1u);
  EXPECT_EQ(statistics_.batch_size().sum(), 3u);
}

TEST_F(ModelStatisticsTest, OverlappingBatchesCountOnceAsBusy) {
  statistics_.record_batch(finished_batch(), 0, std::vector<Response>(2));
  Batch second = finished_batch();
  second.started = at(300);
  second.finished = at(500);
  statistics_.record_batch(second, 0, std::vector<Response>(2));
  EXPECT_EQ(statistics_.snapshot().instance_busy_ns[0], 400'000u);
}

TEST_F(ModelStatisticsTest, WithoutInnerMomentsAllIsInference) {
  Batch batch = finished_batch();
  batch.inputs_ready = batch.computed = kNever;
  statistics_.record_batch(batch, 0, std::vector<Response>(2));
  const auto counts = statistics_.snapshot();
  EXPECT_EQ(counts.compute_input.ns, 0u);
  EXPECT_EQ(counts.compute_infer.ns, 2 * 300'000u);
  EXPECT_EQ(counts.compute_output.ns, 0u);
}

TEST_F(ModelStatisticsTest, FailuresCountByReason) {
  std::vector<Response> responses(2);
  responses[0].error = error::internal("broken");
  statistics_.record_batch(finished_batch(), 0, responses);
  statistics_.record_failure(*float_request("c"), FailureReason::kRejected, at(0));
  const auto counts = statistics_.snapshot();
  EXPECT_EQ(counts.success.count, 1u);
  EXPECT_EQ(counts.fail.count, 2u);
  EXPECT_EQ(counts.inference_count, 2u);
  EXPECT_EQ(counts.failures, (std::array<std::uint64_t, 4>{1, 0, 1, 0}));
}

TEST_F(ModelStatisticsTest, LastInferenceIsWallTime) {
  statistics_.record_batch(finished_batch(), 0, std::vector<Response>(2));
  clock_.advance(std::chrono::hours(1));
  const auto wall = std::chrono::duration_cast<std::chrono::milliseconds>(
                        std::chrono::system_clock::now().time_since_epoch())
                        .count();
  const auto last = static_cast<std::int64_t>(statistics_.snapshot().last_inference_ms);
  EXPECT_NEAR(static_cast<double>(wall - last), 3'600'000.0, 60'000.0);
}

TEST_F(ModelStatisticsTest, PendingIsAGauge) {
  statistics_.set_pending(7);
  EXPECT_EQ(statistics_.snapshot().pending, 7u);
}

}  // namespace
}  // namespace proa::core
