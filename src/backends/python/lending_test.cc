#include "backends/python/lending.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <random>

#include "backends/python/messages.h"
#include "core/testing/requests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends::python {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A worker whose messages the test writes by hand.
class LendingTest : public testing::Test {
 protected:
  LendingTest() {
    auto pair = Channel::create(timer_);
    channel_ = pair->ours;
    worker_ = std::move(pair->theirs);
    lending_ = std::make_unique<Lending>(memory_, channel_);
  }

  // What the worker got next; its head's counts are there.
  std::vector<std::byte> heard() {
    std::vector<std::byte> packet(kMostPacketBytes);
    alignas(cmsghdr) char control[1024];
    iovec part{packet.data(), packet.size()};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t size = ::recvmsg(worker_.get(), &message, MSG_DONTWAIT);
    packet.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); size > 0 && header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
      descriptors_.emplace_back(fd);
    }
    return packet;
  }

  void say(std::span<const std::byte> packet, int fd = -1) {
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    iovec part{const_cast<std::byte*>(packet.data()), packet.size()};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (fd >= 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    ASSERT_EQ(::sendmsg(worker_.get(), &message, 0), static_cast<ssize_t>(packet.size()));
  }

  Result<std::unique_ptr<Incoming>> receive() {
    Channel::Packet packet;
    EXPECT_EQ(channel_->receive(packet), Channel::Event::kPacket);
    return lending_->receive(packet);
  }

  // Introduces a block of the worker's that holds 0, 1, 2, ... as FP32.
  void introduce(std::uint64_t number, std::size_t floats, int seals = F_SEAL_SHRINK) {
    const std::size_t bytes = floats * sizeof(float);
    const OwnedFd fd(::memfd_create("worker", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
    const Tensor content = core::float_tensor({static_cast<std::int64_t>(floats)});
    ASSERT_EQ(::pwrite(fd.get(), content.data.data(), bytes, 0), static_cast<ssize_t>(bytes));
    ASSERT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
    WireWriter packet;
    put_head(packet, {Message::kBlocks, 1, 0, 0});
    packet.put(number);
    packet.put(std::uint64_t{bytes});
    packet.put(std::uint32_t{0});
    say(packet.bytes(), fd.get());
  }

  // A kResponses message with one tensor of FP32 [elements].
  WireWriter response(std::vector<std::uint64_t> returns, std::vector<std::uint64_t> loans,
                      std::uint32_t place, std::uint64_t offset, std::int64_t elements) {
    WireWriter packet;
    put_head(packet, {Message::kResponses, 1, static_cast<std::uint32_t>(returns.size()),
                      static_cast<std::uint32_t>(loans.size() / 2)});
    for (const std::uint64_t number : returns) packet.put(number);
    for (const std::uint64_t number : loans) packet.put(number);
    packet.align(16);
    packet.put(std::uint16_t{0});
    packet.put(static_cast<std::uint8_t>(DataType::kFp32));
    packet.put(std::uint8_t{1});
    packet.put(place);
    packet.put(offset);
    packet.put(static_cast<std::uint64_t>(elements) * sizeof(float));
    packet.put(elements);
    return packet;
  }

  std::string refusal(const WireWriter& packet) {
    say(packet.bytes());
    auto message = receive();
    if (!message) return message.error().message;
    const auto tensor = Lending::read_tensor(**message);
    return tensor ? "" : tensor.error().message;
  }

  TimerThread timer_;
  std::shared_ptr<SharedMemory> memory_ = SharedMemory::create();
  std::shared_ptr<Channel> channel_;
  OwnedFd worker_;
  std::unique_ptr<Lending> lending_;
  std::vector<OwnedFd> descriptors_;
};

TEST_F(LendingTest, SmallTensorsTravelInside) {
  Draft draft(Message::kExecute);
  ASSERT_TRUE(lending_->put_tensor(draft, 0, {}, core::float_tensor({2, 3})));
  ASSERT_TRUE(lending_->send(draft));
  EXPECT_TRUE(draft.loans.empty());
  EXPECT_EQ(lending_->lent_bytes(), 0u);
  EXPECT_EQ(heard().size(), 16u + 24 + 16 + 8 + 24);
}

TEST_F(LendingTest, LargeTensorsAreLentUntilTheyComeBack) {
  const auto use = memory_->start_use();
  Buffer body = memory_->allocate(40'000);
  std::byte* const data = body.data();
  Draft draft(Message::kExecute);
  for (const std::size_t at : {std::size_t{0}, std::size_t{20'000}}) {
    ASSERT_TRUE(lending_->put_tensor(draft, 0, {},
                                     {DataType::kFp32, {5'000}, BufferView(body, at, 20'000)}));
  }
  ASSERT_EQ(draft.loans.size(), 1u);
  ASSERT_TRUE(lending_->send(draft));
  body = Buffer();
  heard();
  ASSERT_EQ(descriptors_.size(), 1u);
  EXPECT_EQ(lending_->lent_bytes(), 40'000u);
  // As long as the worker has it, nobody else gets that memory.
  EXPECT_NE(memory_->allocate(40'000).data(), data);

  say(response({1}, {}, kReceivers, 20'000, 5'000).bytes());
  auto message = receive();
  ASSERT_TRUE(message) << message.error().message;
  const auto named = Lending::read_tensor(**message);
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->tensor.data.data(), data + 20'000);
  EXPECT_EQ(lending_->lent_bytes(), 0u);
}

TEST_F(LendingTest, OtherMemoryIsCopiedIntoShared) {
  Draft draft(Message::kExecute);
  ASSERT_TRUE(lending_->put_tensor(draft, 0, {}, core::float_tensor({100'000})));
  ASSERT_EQ(draft.loans.size(), 1u);
  ASSERT_TRUE(lending_->send(draft));
  heard();
  void* memory = ::mmap(nullptr, 400'000, PROT_READ, MAP_SHARED, descriptors_.at(0).get(), 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_EQ(static_cast<float*>(memory)[99'999], 99'999.f);
  ::munmap(memory, 400'000);
}

TEST_F(LendingTest, AMessageThatIsTooLongGoesThroughSharedMemory) {
  Draft draft(Message::kExecute);
  draft.body.put_string(std::string(200'000, 'x'));
  ASSERT_TRUE(lending_->send(draft));
  EXPECT_EQ(static_cast<Message>(heard()[0]), Message::kBlocks);
  const auto packet = heard();
  EXPECT_EQ(static_cast<Message>(packet[0]), Message::kSpilled);
  EXPECT_LT(packet.size(), 100u);
}

TEST_F(LendingTest, TheWorkersBlockGoesBackWithTheLastHolder) {
  introduce(7, 100);
  EXPECT_EQ(*receive(), nullptr);
  say(response({}, {5, 7}, 0, 40, 3).bytes());
  Tensor tensor;
  {
    auto message = receive();
    ASSERT_TRUE(message) << message.error().message;
    tensor = Lending::read_tensor(**message)->tensor;
  }
  EXPECT_THAT(core::floats(tensor), ElementsAre(10, 11, 12));
  Draft early(Message::kCheck), late(Message::kCheck);
  ASSERT_TRUE(lending_->send(early));
  EXPECT_EQ(heard().size(), 16u);
  tensor = Tensor();
  ASSERT_TRUE(lending_->send(late));
  EXPECT_EQ(heard().size(), 32u);  // with the loan
}

TEST_F(LendingTest, WhatTheSocketDoesNotTakeIsSentLaterInOrder) {
  constexpr std::uint32_t kPackets = 3000;
  for (std::uint32_t i = 0; i < kPackets; ++i) {
    Draft draft(Message::kCheck);
    draft.body.put(i);
    draft.body.put_string(std::string(1000, 'x'));
    ASSERT_TRUE(lending_->send(draft));
  }
  for (std::uint32_t expected = 0; expected < kPackets;) {
    const auto packet = heard();
    if (packet.empty()) continue;
    std::uint32_t number = 0;
    std::memcpy(&number, packet.data() + kHeadBytes, sizeof number);
    ASSERT_EQ(number, expected++);
  }
}

TEST_F(LendingTest, RefusesWhatIsNotThere) {
  introduce(7, 100);
  EXPECT_EQ(*receive(), nullptr);
  EXPECT_THAT(refusal(response({}, {1, 8}, 0, 0, 1)), HasSubstr("was not introduced"));
  EXPECT_THAT(refusal(response({9}, {}, kInline, 0, 1)), HasSubstr("was not lent"));
  EXPECT_THAT(refusal(response({}, {}, 0, 0, 1)), HasSubstr("refers to loan 0 of none"));
  EXPECT_THAT(refusal(response({}, {}, kReceivers, 0, 1)), HasSubstr("refers to loan 0 of none"));
  EXPECT_THAT(refusal(response({}, {1, 7}, 0, 0, 101)), HasSubstr("reaches beyond its block"));
  EXPECT_THAT(refusal(response({}, {2, 7}, 0, UINT64_MAX - 3, 1)), HasSubstr("reaches beyond"));
  EXPECT_THAT(refusal(response({}, {}, kInline, 1000, 1)), HasSubstr("reaches beyond its end"));
  EXPECT_THAT(refusal(response({}, {}, kInline, 0, -1)), HasSubstr("reaches beyond"));
  introduce(8, 10, 0);
  EXPECT_THAT(receive().error().message, HasSubstr("F_SEAL_SHRINK"));
  introduce(7, 10);
  EXPECT_THAT(receive().error().message, HasSubstr("came twice"));
  WireWriter packet;
  put_head(packet, {Message::kBlocks, 1, 0, 0});
  packet.put(std::uint64_t{0});
  EXPECT_THAT(refusal(packet), HasSubstr("1 blocks came with 0 descriptors"));
}

TEST_F(LendingTest, SurvivesAnything) {
  const config::ModelConfig config = core::float_config(0);
  introduce(7, 100);
  EXPECT_EQ(*receive(), nullptr);
  const WireWriter good = response({}, {1, 7}, 0, 40, 3);
  std::mt19937 random(5);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> packet(good.bytes().begin(), good.bytes().end());
    for (int change = 0; change < 3; ++change) {
      packet[random() % packet.size()] = static_cast<std::byte>(random() % 4 ? random() : 0xff);
    }
    packet.resize(random() % 8 ? packet.size() : 1 + random() % packet.size());
    say(packet);
    auto message = receive();
    if (!message || *message == nullptr) continue;
    if (i % 2) {
      (void)Lending::read_tensor(**message);
    } else {
      (void)read_response(config, **message);
    }
  }
}

}  // namespace
}  // namespace proa::backends::python
