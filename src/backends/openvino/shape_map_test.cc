#include "backends/openvino/shape_map.h"

#include "gtest/gtest.h"

namespace proa::backends::openvino {
namespace {

constexpr std::int64_t kAny = Shape::kAny;

struct Case {
  Shape actual, from, to;
  Shape want;  // empty and `fits` false: an error
  bool fits = true;
};

TEST(ShapeMapTest, MovesOpenExtentsInOrder) {
  const Case cases[] = {
      {{6}, {6}, {2, 3}, {2, 3}},
      {{1}, {1}, {}, {}},
      {{}, {}, {1}, {1}},
      {{5, 4}, {kAny, 4}, {kAny, 2, 2}, {5, 2, 2}},
      {{5, 1, 7}, {kAny, 1, kAny}, {kAny, kAny}, {5, 7}},
      {{0, 4}, {kAny, 4}, {kAny, 2, 2}, {0, 2, 2}},
      {{5, 4}, {6, 4}, {24}, {}, false},
      {{5, 4}, {kAny, 4}, {20}, {}, false},
      {{4}, {4}, {kAny, 2}, {}, false},
      {{4}, {4}, {3}, {}, false},
  };
  for (const Case& c : cases) {
    const auto got = reshape_extents(c.actual, c.from, c.to);
    ASSERT_EQ(got.has_value(), c.fits) << c.actual.to_string() << " " << c.to.to_string();
    if (c.fits) {
      EXPECT_EQ(*got, c.want) << c.actual.to_string();
    }
  }
}

}  // namespace
}  // namespace proa::backends::openvino
