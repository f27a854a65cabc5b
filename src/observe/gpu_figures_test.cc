#include "observe/gpu_figures.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::observe {
namespace {

TEST(GpuFiguresTest, EveryGpuHasTritonsNamesAndItsLabel) {
  const GpuReading readings[] = {{"GPU-a", 0.5, 10, 20, 300, 700, 4},
                                 {"GPU-b", 0.25, 11, 20, 301, 700, 5}};
  const auto figures = gpu_figures(readings);
  ASSERT_EQ(figures.size(), 12u);
  EXPECT_EQ(figures[0].name, "nv_gpu_utilization");
  EXPECT_EQ(figures[0].value, 0.5);
  ASSERT_EQ(figures[1].labels.size(), 1u);
  EXPECT_EQ(figures[1].labels[0], std::pair(std::string("gpu_uuid"), std::string("GPU-b")));
  EXPECT_EQ(figures[11].name, "nv_energy_consumption");
  EXPECT_EQ(figures[11].kind, ServerFigure::Kind::kCounter);
  EXPECT_TRUE(gpu_figures({}).empty());
}

TEST(GpuFiguresTest, AMachineWithoutTheLibraryHasNone) {
  // Where there is one, it answers with as many GPUs as it has.
  for (const GpuReading& reading : GpuMonitor().read()) EXPECT_FALSE(reading.uuid.empty());
}

}  // namespace
}  // namespace proa::observe
