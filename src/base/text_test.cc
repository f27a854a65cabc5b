#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proa {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TextTest, LowersAsciiLettersOnly) {
  EXPECT_EQ(lower_case("HTTP/2 [AZ@]"), "http/2 [az@]");
  EXPECT_EQ(lower_case("\xC3\x84"), "\xC3\x84");
}

TEST(TextTest, SplitsLinesOfBothKinds) {
  EXPECT_THAT(split_lines(""), IsEmpty());
  EXPECT_THAT(split_lines("a"), ElementsAre("a"));
  EXPECT_THAT(split_lines("a\r\n\nb\n"), ElementsAre("a", "", "b"));
  EXPECT_THAT(split_lines("\n"), ElementsAre(""));
  EXPECT_THAT(split_lines("a\rb"), ElementsAre("a\rb"));
}

TEST(TextTest, TrimsSpacesAndTabs) {
  EXPECT_EQ(trim(" \ta \t b\t "), "a \t b");
  EXPECT_EQ(trim("a\n"), "a\n");
  EXPECT_EQ(trim(" \t"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(TextTest, ParsesWholeNumbersOnly) {
  EXPECT_EQ(parse_number<int>("-12"), -12);
  EXPECT_EQ(parse_number<double>("1.5e2"), 150);
  for (const char* text : {"", " 1", "1 ", "+1", "0x1", "1.0", "2147483648"}) {
    EXPECT_EQ(parse_number<int>(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_number<unsigned>("-1"), std::nullopt);
  EXPECT_EQ(parse_number<int>(std::string_view("12", 1)), 1);
}

TEST(TextTest, PercentEncodedByteIsOfTwoHexDigits) {
  EXPECT_EQ(percent_encoded_byte("%41 more"), 'A');
  EXPECT_EQ(percent_encoded_byte("%fF"), '\xff');
  EXPECT_EQ(percent_encoded_byte("%00"), '\0');
  for (const std::string_view text : {"", "%", "%4", "41", "%4g", "%g4", "%-1", "%+1", "% 1"}) {
    EXPECT_EQ(percent_encoded_byte(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace proa
