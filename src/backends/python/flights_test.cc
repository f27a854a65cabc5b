#include "backends/python/flights.h"

#include <chrono>
#include <cstring>

#include "base/testing/manual_clock.h"
#include "core/testing/requests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends::python {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr seconds kPatience{60};

// A client that takes nothing, until the test lets it.
struct SlowClient {
  std::size_t responses = 0;
  bool takes = false;
  std::vector<std::move_only_function<void()>> waiting;

  void take() {
    takes = true;
    for (auto& ready : std::exchange(waiting, {})) ready();
  }
};

class SlowSink final : public core::ResponseSink {
 public:
  explicit SlowSink(SlowClient& client) : client_(client) {}
  void send(core::Response, bool) override { ++client_.responses; }
  std::size_t credit() const override { return client_.takes ? SIZE_MAX : 0; }
  void when_credit(std::move_only_function<void()> ready) override {
    client_.waiting.push_back(std::move(ready));
  }

 private:
  SlowClient& client_;
};

// What a worker has of a decoupled model.
class FlightsTest : public testing::Test {
 protected:
  FlightsTest() {
    config_.decoupled = true;
    auto pair = Channel::create(timer_);
    worker_ = std::move(pair->theirs);
    lending_ = std::make_unique<Lending>(memory_, pair->ours);
    flights_ = std::make_unique<Flights>(
        config_, page_, clock_, [this](std::uint64_t number) { credited_.push_back(number); });
  }

  // Sends a batch of one request to each of the clients; the number of the first.
  std::uint64_t send(std::vector<SlowClient*> clients) {
    std::vector<std::unique_ptr<core::Request>> requests;
    for (SlowClient* client : clients) {
      requests.push_back(core::float_request("r"));
      requests.back()->sink = std::make_unique<SlowSink>(*client);
    }
    auto batch = std::make_unique<core::Batch>(std::move(requests));
    core::Instance::Done done = [this](std::unique_ptr<core::Batch> ended) {
      ++done_;
      responses_ = ended->take_responses();
    };
    Draft draft(Message::kExecute);
    const auto first = flights_->add(batch, done, draft, *lending_, false);
    EXPECT_TRUE(first);
    lending_->abandon(draft);
    return *first;
  }

  void respond(std::uint64_t number, bool final = false) {
    EXPECT_TRUE(flights_->answer({.number = number, .final = final, .content = core::Response{}}));
  }
  // The worker says that it has begun the batch.
  void begin(std::uint64_t first) { std::memcpy(page_->buffer().data(), &first, sizeof first); }
  // How long the worker has not been heard of.
  Duration silence() { return clock_.now() - flights_->oldest(); }

  config::ModelConfig config_ = core::float_config(8);
  ManualClock clock_;
  TimerThread timer_;
  std::shared_ptr<SharedMemory> memory_ = SharedMemory::create();
  std::shared_ptr<StatusPage> page_ = *StatusPage::create(*memory_);
  OwnedFd worker_;
  std::unique_ptr<Lending> lending_;
  std::vector<std::uint64_t> credited_;
  int done_ = 0;
  std::vector<core::Response> responses_;  // of the last batch that was done
  std::unique_ptr<Flights> flights_;
};

TEST_F(FlightsTest, AWorkerThatSaysNothingIsSilent) {
  EXPECT_EQ(flights_->oldest(), kNever);
  SlowClient client{.takes = true};
  const std::uint64_t number = send({&client});
  begin(number);
  clock_.advance(seconds(5));
  EXPECT_EQ(silence(), seconds(5));
  respond(number);
  EXPECT_EQ(silence(), seconds(0));
  clock_.advance(seconds(2));
  EXPECT_EQ(silence(), seconds(2));
  respond(number, true);
  EXPECT_EQ(done_, 1);
  EXPECT_EQ(flights_->oldest(), kNever);
}

TEST_F(FlightsTest, AWorkerThatMayNotAnswerIsNotSilent) {
  SlowClient slow;
  SlowClient fast{.takes = true};
  const std::uint64_t number = send({&fast, &slow});
  begin(number);
  respond(number + 1);
  for (int i = 0; i < 10; ++i) {
    clock_.advance(seconds(5));
    EXPECT_EQ(silence(), seconds(0));
  }
  // From now on it is the worker's turn.
  slow.take();
  EXPECT_THAT(credited_, ElementsAre(number + 1));
  clock_.advance(seconds(5));
  EXPECT_EQ(silence(), seconds(5));
  respond(number + 1);
  clock_.advance(seconds(3));
  EXPECT_EQ(silence(), seconds(3));
}

TEST_F(FlightsTest, WhatHasEndedHoldsNothingBack) {
  SlowClient slow;
  SlowClient fast{.takes = true};
  const std::uint64_t number = send({&slow, &fast});
  begin(number);
  respond(number);
  respond(number, true);
  clock_.advance(seconds(5));
  EXPECT_EQ(silence(), seconds(5));
}

// model.py may answer all from one thread, which waits with the first.
TEST_F(FlightsTest, OthersWaitWithTheOneThatIsHeldBack) {
  SlowClient slow;
  SlowClient fast{.takes = true};
  const std::uint64_t first = send({&slow});
  begin(first);
  begin(send({&fast}));
  respond(first);
  clock_.advance(seconds(5));
  EXPECT_EQ(silence(), seconds(0));
  slow.take();
  clock_.advance(seconds(5));
  EXPECT_EQ(silence(), seconds(5));
}

TEST_F(FlightsTest, AClientThatTakesNothingForLongLosesItsRequestAlone) {
  SlowClient dead, slow;
  const std::uint64_t number = send({&dead, &slow});
  begin(number);
  respond(number);
  clock_.advance(kPatience);
  flights_->cancel_stalled(kPatience);
  EXPECT_THAT(credited_, ElementsAre());
  EXPECT_EQ(silence(), seconds(0));
  clock_.advance(seconds(1));
  flights_->cancel_stalled(kPatience);
  EXPECT_THAT(credited_, ElementsAre(number));
  // The worker's turn again. What it still says to that client is thrown away.
  clock_.advance(seconds(4));
  EXPECT_EQ(silence(), seconds(5));
  respond(number);
  respond(number + 1);
  EXPECT_EQ(dead.responses, 1u);
  EXPECT_EQ(slow.responses, 1u);
  respond(number, true);
  respond(number + 1, true);
  ASSERT_EQ(done_, 1);
  ASSERT_THAT(responses_, SizeIs(2));
  ASSERT_TRUE(responses_[0].error);
  EXPECT_THAT(responses_[0].error->message, HasSubstr("the client took no response for so long"));
  EXPECT_FALSE(responses_[1].error);
}

// The client of a request that has ended takes its last bytes when another has its slot.
TEST_F(FlightsTest, CreditThatComesLateIsNotAnothers) {
  SlowClient late, slow;
  const std::uint64_t first = send({&late});
  begin(first);
  respond(first);
  respond(first, true);
  const std::uint64_t second = send({&slow});
  begin(second);
  respond(second);
  late.take();
  clock_.advance(seconds(5));
  EXPECT_EQ(silence(), seconds(0));
  slow.take();
  clock_.advance(seconds(5));
  EXPECT_EQ(silence(), seconds(5));
}

}  // namespace
}  // namespace proa::backends::python
