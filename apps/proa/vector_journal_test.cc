#include "vector_journal.h"

#include "base/testing/temp_folder.h"
#include "gmock/gmock.h"

namespace proa {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr FileStamp kStamp{100, 5};

class VectorJournalTest : public testing::Test {
 protected:
  VectorJournal open(std::string_view source = "features 1") {
    auto journal = VectorJournal::open(file_, source);
    EXPECT_TRUE(journal) << journal.error().message;
    return *std::move(journal);
  }

  const TempFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "vectors";
};

TEST_F(VectorJournalTest, KeepsWhatWasAppended) {
  {
    VectorJournal journal = open();
    ASSERT_TRUE(journal.append("a.png", kStamp, {1, 2}));
    ASSERT_TRUE(journal.append("b.png", kStamp, {3}));
    ASSERT_TRUE(journal.append("a.png", {100, 6}, {4, 5}));  // it has changed
  }
  const VectorJournal journal = open();
  EXPECT_EQ(journal.size(), 2u);
  EXPECT_THAT(journal.find("a.png", {100, 6}), ElementsAre(4, 5));
  EXPECT_THAT(journal.find("a.png", kStamp), IsEmpty());
  EXPECT_THAT(journal.find("b.png", kStamp), ElementsAre(3));
  EXPECT_THAT(journal.find("c.png", kStamp), IsEmpty());
}

TEST_F(VectorJournalTest, LosesOnlyTheRecordThatWasCut) {
  {
    VectorJournal journal = open();
    ASSERT_TRUE(journal.append("a.png", kStamp, {1, 2}));
    ASSERT_TRUE(journal.append("b.png", kStamp, {3, 4}));
  }
  const auto whole = std::filesystem::file_size(file_);
  for (std::uintmax_t cut = 1; cut < 20; ++cut) {
    std::filesystem::resize_file(file_, whole - cut);
    VectorJournal journal = open();
    EXPECT_THAT(journal.find("a.png", kStamp), ElementsAre(1, 2)) << cut;
    EXPECT_THAT(journal.find("b.png", kStamp), IsEmpty()) << cut;
    ASSERT_TRUE(journal.append("b.png", kStamp, {3, 4}));
  }
  EXPECT_THAT(open().find("b.png", kStamp), ElementsAre(3, 4));
}

TEST_F(VectorJournalTest, BeginsAnewForAnotherSource) {
  ASSERT_TRUE(open().append("a.png", kStamp, {1}));
  EXPECT_EQ(open("features 2").size(), 0u);
  EXPECT_EQ(open("features 2").size(), 0u);
}

TEST_F(VectorJournalTest, NamesTheFileThatCannotBeWritten) {
  const auto failed = VectorJournal::open(folder_.path() / "none" / "vectors", "");
  EXPECT_THAT(failed.error().message, testing::HasSubstr("none/vectors: No such file"));
}

}  // namespace
}  // namespace proa
