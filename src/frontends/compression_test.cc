#include "frontends/compression.h"

#include <string>

#include "gtest/gtest.h"

namespace proa::frontends {
namespace {

std::string packed(std::string_view text, Encoding encoding) {
  std::string out;
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(text.substr(0, 3))),
                                              std::as_bytes(std::span(text.substr(3)))};
  compress(parts, encoding, 6, out);
  return out;
}

struct CompressionTest : ::testing::Test {
  core::MemoryBudget budget{std::size_t{8} << 20};
  MessageBuffer to{host_memory(), budget};

  Status unpack(std::string_view bytes, std::size_t limit = std::size_t{1} << 22) {
    return decompress(std::as_bytes(std::span(bytes)), limit, "--limit", to);
  }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(to.bytes().data()), to.size()};
  }
};

TEST_F(CompressionTest, ReadsWhatItWrote) {
  std::string text;
  for (unsigned i = 0; i < 200'000; ++i) text += static_cast<char>(i * i % 251);
  for (const Encoding encoding : {Encoding::kGzip, Encoding::kDeflate}) {
    ASSERT_TRUE(unpack(packed(text, encoding)));
    EXPECT_EQ(this->text(), text);
  }
}

TEST_F(CompressionTest, WritesTheFormatsByTheirHeaders) {
  EXPECT_TRUE(packed("hello world", Encoding::kGzip).starts_with("\x1f\x8b"));
  EXPECT_TRUE(packed("hello world", Encoding::kDeflate).starts_with("\x78"));
}

TEST_F(CompressionTest, StopsABombAtTheLimit) {
  const std::string bomb = packed(std::string(std::size_t{5} << 20, 'a'), Encoding::kGzip);
  EXPECT_LT(bomb.size(), 10'000u);
  const Status status = unpack(bomb, 100'000);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kResourceExhausted);
  EXPECT_LT(budget.used(), 1'000'000u);
}

TEST_F(CompressionTest, RefusesTruncatedMalformedAndTrailingData) {
  const std::string good = packed("hello hello hello hello", Encoding::kGzip);
  for (std::size_t size = 0; size < good.size(); ++size) {
    const Status status = unpack(good.substr(0, size));
    ASSERT_FALSE(status) << size;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(unpack("not compressed at all"));
  EXPECT_FALSE(unpack(good + "x"));
}

TEST(EncodingTest, ReadsNames) {
  EXPECT_EQ(parse_encoding(""), Encoding::kIdentity);
  EXPECT_EQ(parse_encoding("identity"), Encoding::kIdentity);
  EXPECT_EQ(parse_encoding("GZip"), Encoding::kGzip);
  EXPECT_EQ(parse_encoding("deflate"), Encoding::kDeflate);
  EXPECT_EQ(parse_encoding("br"), Encoding::kUnknown);
}

TEST(EncodingTest, ChoosesWhatTheClientLikesBest) {
  EXPECT_EQ(choose_encoding(""), Encoding::kIdentity);
  EXPECT_EQ(choose_encoding("br, zstd"), Encoding::kIdentity);
  EXPECT_EQ(choose_encoding("identity, deflate, gzip"), Encoding::kDeflate);
  EXPECT_EQ(choose_encoding("gzip, deflate"), Encoding::kGzip);
  EXPECT_EQ(choose_encoding("gzip;q=0.2,deflate;q=0.9"), Encoding::kDeflate);
  EXPECT_EQ(choose_encoding("gzip;q=0"), Encoding::kIdentity);
  EXPECT_EQ(choose_encoding("gzip;q=0, deflate"), Encoding::kDeflate);
}

}  // namespace
}  // namespace proa::frontends
