#include "loadgen/clients/waiting_list.h"

#include <vector>

#include "gtest/gtest.h"

namespace proa::loadgen {
namespace {

TEST(WaitingListTest, KeepsTheOrderOfThoseThatStay) {
  std::vector<Exchange> requests(6);
  WaitingList list;
  EXPECT_TRUE(list.empty());
  EXPECT_FALSE(list.remove(requests[0]));
  for (Exchange& request : requests) list.push(request);
  EXPECT_TRUE(list.remove(requests[0]));  // the front, the middle, the end
  EXPECT_TRUE(list.remove(requests[3]));
  EXPECT_TRUE(list.remove(requests[5]));
  EXPECT_FALSE(list.remove(requests[3]));
  EXPECT_EQ(&list.take_front(), &requests[1]);
  list.push(requests[3]);  // used again
  EXPECT_EQ(&list.take_front(), &requests[2]);
  EXPECT_EQ(&list.take_front(), &requests[4]);
  EXPECT_FALSE(list.remove(requests[4]));
  EXPECT_FALSE(list.empty());
  EXPECT_EQ(&list.take_front(), &requests[3]);
  EXPECT_TRUE(list.empty());
}

// As at the end of an overloaded open loop: the newest first, each without a search.
TEST(WaitingListTest, ManyAreGivenUpFromTheEnd) {
  std::vector<Exchange> requests(200'000);
  WaitingList list;
  for (Exchange& request : requests) list.push(request);
  for (std::size_t i = requests.size(); i-- > 0;) ASSERT_TRUE(list.remove(requests[i]));
  EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace proa::loadgen
