#include "backends/python/wire.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends::python {
namespace {

TEST(WireTest, ReadsWhatWasWritten) {
  WireWriter writer;
  put_head(writer, {Message::kExecute, 3, 0, 0});
  writer.put(std::uint16_t{0xabcd});
  writer.put_string("größer");
  writer.align(8);
  writer.put(-1.5);
  EXPECT_EQ(writer.size() % 8, 0u);

  WireReader reader(writer.bytes());
  const MessageHead head = get_head(reader);
  reader.start_body();
  EXPECT_EQ(head.kind, Message::kExecute);
  EXPECT_EQ(head.items, 3u);
  EXPECT_EQ(reader.get<std::uint16_t>(), 0xabcd);
  EXPECT_EQ(reader.get_string(), "größer");
  reader.align(8);
  EXPECT_EQ(reader.get<double>(), -1.5);
  EXPECT_TRUE(reader.ok());
  reader.get<std::uint8_t>();
  EXPECT_FALSE(reader.ok());
}

TEST(WireTest, ParametersKeepTheirTypes) {
  const Parameters parameters{{"flag", true},
                              {"small", std::int64_t{-7}},
                              {"large", UINT64_MAX},
                              {"real", 0.25},
                              {"text", std::string("so")}};
  WireWriter writer;
  writer.put_parameters(parameters);
  WireReader reader(writer.bytes());
  const Parameters read = reader.get_parameters();
  ASSERT_TRUE(reader.ok());
  ASSERT_EQ(read.size(), parameters.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].name, parameters[i].name);
    EXPECT_EQ(read[i].value, parameters[i].value);
  }
}

TEST(WireTest, EveryCutIsNoticed) {
  WireWriter writer;
  writer.put_parameters({{"text", std::string("so")}, {"flag", true}});
  for (std::size_t size = 0; size < writer.size(); ++size) {
    WireReader reader(writer.bytes().first(size));
    reader.get_parameters();
    EXPECT_FALSE(reader.ok()) << size;
  }
}

TEST(WireTest, CountsThatCannotBeAreNoticed) {
  for (const MessageHead& head : {MessageHead{Message::kResponses, 1, 0xffffffff, 0},
                                  MessageHead{Message::kResponses, 1, 0, 0x80000000}}) {
    WireWriter writer;
    put_head(writer, head);
    writer.put(std::uint64_t{0});
    WireReader reader(writer.bytes());
    get_head(reader);
    EXPECT_FALSE(reader.ok());
  }
  WireReader empty({});
  EXPECT_FALSE(empty.has(1, 1));
}

TEST(WireTest, ASkipGoesForwardOnly) {
  WireWriter writer;
  for (std::uint64_t i = 0; i < 4; ++i) writer.put(i);
  WireReader reader(writer.bytes());
  reader.get<std::uint64_t>();
  reader.start_body();
  reader.skip_to(8);
  EXPECT_EQ(reader.get<std::uint64_t>(), 2u);
  reader.skip_to(8);
  EXPECT_FALSE(reader.ok());
}

}  // namespace
}  // namespace proa::backends::python
