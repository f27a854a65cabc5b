#include "loadgen/schedules/picker.h"

#include <map>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::loadgen {
namespace {

using ::testing::ElementsAre;

PayloadSet make_set(std::size_t payloads, std::vector<Stream> streams = {},
                    bool sequences = false) {
  PayloadSet set;
  set.payloads.resize(payloads);
  set.streams = streams.empty() ? std::vector<Stream>{{0, payloads}} : std::move(streams);
  set.model.sequences = sequences;
  return set;
}

Exchange exchange_of(const Picker::Choice& choice) {
  Exchange exchange;
  exchange.model = choice.model;
  exchange.payload = choice.payload;
  exchange.sequence = choice.sequence;
  return exchange;
}

TEST(PickerTest, GoesThroughPayloadsTogetherWithOtherWorkers) {
  const PayloadSet set = make_set(4);
  Picker even({.sets = {&set}, .weights = {1}, .worker = 0, .workers = 2});
  Picker odd({.sets = {&set}, .weights = {1}, .worker = 1, .workers = 2});
  EXPECT_EQ(even.next().payload, 0U);
  EXPECT_EQ(even.next().payload, 2U);
  EXPECT_EQ(even.next().payload, 0U);
  EXPECT_EQ(odd.next().payload, 1U);
  EXPECT_EQ(odd.next().payload, 3U);
}

TEST(PickerTest, PicksModelsByWeight) {
  const PayloadSet set = make_set(1);
  Picker picker({.sets = {&set, &set, &set}, .weights = {5, 1, 2}});
  std::map<std::uint32_t, int> counts;
  for (int i = 0; i < 800; ++i) ++counts[picker.next().model];
  EXPECT_EQ(counts[0], 500);
  EXPECT_EQ(counts[1], 100);
  EXPECT_EQ(counts[2], 200);
}

TEST(PickerTest, ASequenceHasOneRequestInFlight) {
  const PayloadSet set = make_set(3, {}, true);
  Picker picker({.sets = {&set}, .weights = {1}, .sequence_length = 4, .length_variation = 0});
  const auto first = picker.next();
  const auto other = picker.next();
  EXPECT_NE(first.sequence.id, other.sequence.id);
  EXPECT_TRUE(first.sequence.start);
  std::vector<std::uint32_t> payloads{first.payload};
  auto choice = first;
  while (!choice.sequence.end) {
    picker.finished(exchange_of(choice));
    choice = picker.next();
    EXPECT_EQ(choice.sequence.id, first.sequence.id);
    EXPECT_FALSE(choice.sequence.start);
    payloads.push_back(choice.payload);
  }
  EXPECT_THAT(payloads, ElementsAre(0, 1, 2, 0));
}

TEST(PickerTest, SequencesFollowStreams) {
  PayloadSet set = make_set(5, {{0, 2}, {2, 3}}, true);
  set.from_file = true;
  Picker picker({.sets = {&set}, .weights = {1}});
  std::vector<std::uint32_t> payloads;
  std::vector<bool> ends;
  for (int i = 0; i < 5; ++i) {
    const auto choice = picker.next();
    payloads.push_back(choice.payload);
    ends.push_back(choice.sequence.end);
    picker.finished(exchange_of(choice));
  }
  EXPECT_THAT(payloads, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(ends, ElementsAre(false, true, false, false, true));
  // A length that was asked for goes round the stream.
  Picker longer({.sets = {&set}, .weights = {1}, .sequence_length = 3, .length_variation = 0});
  payloads.clear();
  for (int i = 0; i < 3; ++i) {
    const auto choice = longer.next();
    payloads.push_back(choice.payload);
    longer.finished(exchange_of(choice));
  }
  EXPECT_THAT(payloads, ElementsAre(0, 1, 0));
}

TEST(PickerTest, SequencesTakeTurnsWhenSeveralAreWanted) {
  const PayloadSet set = make_set(1, {}, true);
  Picker picker({.sets = {&set}, .weights = {1}, .sequences = 3, .sequence_length = 100});
  std::set<std::uint64_t> ids;
  for (int i = 0; i < 9; ++i) {
    const auto choice = picker.next();
    ids.insert(choice.sequence.id);
    picker.finished(exchange_of(choice));
  }
  EXPECT_EQ(ids.size(), 3U);
}

TEST(PickerTest, WorkersShareTheSequencesAndTheirIds) {
  const PayloadSet set = make_set(1, {}, true);
  std::set<std::uint64_t> ids;
  for (const int worker : {0, 1}) {
    Picker picker({.sets = {&set},
                   .weights = {1},
                   .sequences = 4,
                   .sequence_length = 2,
                   .length_variation = 0,
                   .ids = {10, 16},
                   .worker = worker,
                   .workers = 2});
    std::set<std::uint64_t> together;
    for (int i = 0; i < 2; ++i) together.insert(picker.next().sequence.id);
    EXPECT_EQ(together.size(), 2U);
    ids.insert(together.begin(), together.end());
    for (int i = 0; i < 10; ++i) {
      const auto choice = picker.next();
      ids.insert(choice.sequence.id);
      picker.finished(exchange_of(choice));
    }
  }
  EXPECT_THAT(ids, ElementsAre(10, 11, 12, 13, 14, 15));
}

TEST(PickerTest, AnIdInUseIsNotTakenAgain) {
  const PayloadSet set = make_set(1, {}, true);
  Picker picker(
      {.sets = {&set}, .weights = {1}, .sequence_length = 1, .length_variation = 0, .ids = {1, 4}});
  const auto slow = picker.next();
  EXPECT_EQ(slow.sequence.id, 1U);
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 4; ++i) {
    const auto choice = picker.next();
    ids.push_back(choice.sequence.id);
    picker.finished(exchange_of(choice));
  }
  EXPECT_THAT(ids, ElementsAre(2, 3, 2, 3));
  picker.finished(exchange_of(slow));
  EXPECT_EQ(picker.next().sequence.id, 1U);
  EXPECT_EQ(picker.next().sequence.id, 2U);
  EXPECT_EQ(picker.next().sequence.id, 3U);
  EXPECT_EQ(picker.next().sequence.id, 1U);  // more sequences than ids
}

TEST(PickerTest, ClosesWhatIsOpenAndDropsWhatFailed) {
  const PayloadSet set = make_set(1, {}, true);
  Picker picker({.sets = {&set}, .weights = {1}});
  const auto good = picker.next();
  const auto bad = picker.next();
  EXPECT_FALSE(picker.next_to_close());  // both are in flight
  picker.finished(exchange_of(good));
  Exchange failed = exchange_of(bad);
  failed.failure = std::make_unique<Failure>();
  picker.finished(failed);
  const auto last = picker.next_to_close();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->sequence.id, good.sequence.id);
  EXPECT_TRUE(last->sequence.end);
  EXPECT_FALSE(picker.next_to_close());
}

}  // namespace
}  // namespace proa::loadgen
