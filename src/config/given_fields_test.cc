#include "config/given_fields.h"

#include "config/parse.h"
#include "gtest/gtest.h"

namespace proa::config {
namespace {

TEST(GivenFieldsTest, TellsAStatedZeroFromAnAbsentField) {
  EXPECT_TRUE(parse_config("max_batch_size: 0", "f")->given.contains("max_batch_size"));
  EXPECT_FALSE(parse_config("name: 'm'", "f")->given.contains("max_batch_size"));
}

TEST(GivenFieldsTest, KnowsLineAndColumnOfElementsAndMapKeys) {
  const GivenFields given = parse_config(
                                "# comment\n"
                                "input [\n"
                                "\t{ name: 'a' data_type: TYPE_FP32 dims: [ 1,\n"
                                "  2 ] } ]\n"
                                "parameters { key: 'k' value { string_value: 'v' } }\n",
                                "f")
                                ->given;
  EXPECT_EQ(given.find("input[0].name").line, 3);
  EXPECT_EQ(given.find("input[0].name").column, 4);  // the tabulator is one character
  // A list in brackets has one place for all of its elements.
  EXPECT_EQ(given.find("input[0].dims[1]").line, 3);
  EXPECT_EQ(given.find("input[0].dims[1]").column, 35);
  EXPECT_EQ(given.find("parameters[k]").line, 5);
}

TEST(GivenFieldsTest, FindsTheNearestMessageAroundAnAbsentField) {
  GivenFields given;
  given.add("input", {1, 1});
  given.add("input[1]", {3, 2});
  EXPECT_EQ(given.find("input[1].reshape.shape[0]").line, 3);
  EXPECT_EQ(given.find("input[7].name").line, 1);
  EXPECT_EQ(given.find("output[0].name").line, 0);
}

}  // namespace
}  // namespace proa::config
