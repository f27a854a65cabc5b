#include "protocol/model_path.h"

#include "gtest/gtest.h"

namespace proa::protocol {
namespace {

TEST(ModelPathTest, NamesAreOneSegmentWhateverTheyHold) {
  EXPECT_EQ(model_path("Net-2.5_a~", ""), "/v2/models/Net-2.5_a~");
  EXPECT_EQ(model_path("a/b %\xc3\xa4", "3"), "/v2/models/a%2Fb%20%25%C3%A4/versions/3");
}

}  // namespace
}  // namespace proa::protocol
