#include "tensor/bytes_tensor.h"

#include <gtest/gtest.h>

namespace proa {
namespace {

std::span<const std::byte> bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string encode(std::initializer_list<std::string_view> elements) {
  std::string out;
  for (const auto element : elements) append_bytes_element(out, element);
  return out;
}

TEST(BytesTensorTest, RoundTrip) {
  const std::string data = encode({"abc", "", std::string_view("\0x", 2)});
  const auto elements = read_bytes_elements(bytes(data), 3);
  ASSERT_TRUE(elements);
  EXPECT_EQ((*elements)[0], "abc");
  EXPECT_EQ((*elements)[1], "");
  EXPECT_EQ((*elements)[2], std::string_view("\0x", 2));
  EXPECT_EQ(bytes_elements_length(bytes(data), 2), 3u + 4 + 4);
}

TEST(BytesTensorTest, SaysWhatIsWrong) {
  const std::string data = encode({"abc", "de"});
  EXPECT_EQ(check_bytes_elements(bytes(data), 3).error().message,
            "expected 3 BYTES elements, got 2");
  EXPECT_EQ(check_bytes_elements(bytes(data), 1).error().message,
            "6 bytes follow the 1 expected BYTES elements");
  EXPECT_EQ(check_bytes_elements(bytes(data.substr(0, 12)), 2).error().message,
            "BYTES element 1 announces 2 bytes but only 1 follow");
  EXPECT_EQ(check_bytes_elements(bytes(data.substr(0, 9)), 2).error().message,
            "BYTES element 1 is cut short: 2 bytes left of a 4-byte length");
}

TEST(BytesTensorTest, HugeCountIsAnErrorNotALoop) {
  EXPECT_FALSE(check_bytes_elements({}, 1ll << 62));
  EXPECT_TRUE(check_bytes_elements({}, 0));
}

}  // namespace
}  // namespace proa
