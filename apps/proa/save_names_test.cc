#include "save_names.h"

#include "gtest/gtest.h"

namespace proa {
namespace {

TEST(SaveNamesTest, AreTheOutputsForOnePicture) {
  SaveNames names("out", {"a/rgb.jpg"});
  EXPECT_EQ(names.take(0, "probabilities"), "out/probabilities.npy");
  EXPECT_EQ(names.take(0, "serving/y:0"), "out/serving_y_0.npy");
  EXPECT_EQ(SaveNames("out", {}).take(0, "y"), "out/y.npy");
}

TEST(SaveNamesTest, DifferForPicturesOfTheSameStem) {
  SaveNames names("out", {"rgb.jpg", "rgb.png", "a/1.jpg", "b/1.jpg", "rgb-2.jpg"});
  EXPECT_EQ(names.take(0, "y"), "out/rgb.y.npy");
  EXPECT_EQ(names.take(1, "y"), "out/rgb-2.y.npy");
  EXPECT_EQ(names.take(2, "y"), "out/1.y.npy");
  EXPECT_EQ(names.take(3, "y"), "out/1-2.y.npy");
  EXPECT_EQ(names.take(4, "y"), "out/rgb-2-2.y.npy");
}

TEST(SaveNamesTest, DifferWhenOnlyTheReplacedCharactersDo) {
  SaveNames names("out", {"a.jpg", "a.b.jpg"});
  EXPECT_EQ(names.take(0, "x/y"), "out/a.x_y.npy");
  EXPECT_EQ(names.take(0, "x:y"), "out/a.x_y-2.npy");
  EXPECT_EQ(names.take(0, "b.z"), "out/a.b.z.npy");
  EXPECT_EQ(names.take(1, "z"), "out/a.b.z-2.npy");
}

}  // namespace
}  // namespace proa
