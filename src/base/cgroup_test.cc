#include "base/cgroup.h"

#include <gtest/gtest.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/testing/temp_folder.h"

namespace proa {
namespace {

class CgroupTest : public testing::Test {
 protected:
  void write(const std::string& path, std::string_view text) const { folder_.write(path, text); }

  TempFolder folder_;
  const std::filesystem::path root_ = folder_.path();
};

TEST_F(CgroupTest, NoFilesMeansNoLimits) {
  EXPECT_EQ(cgroup_cpu_quota({root_, "0::/a\n"}), 0);
  EXPECT_EQ(cgroup_memory_limit({root_, "0::/a\n"}), 0u);
  EXPECT_EQ(cgroup_cpu_quota({root_, ""}), 0);
}

TEST_F(CgroupTest, TightestLevelOfV2Counts) {
  write("cpu.max", "max 100000\n");
  write("pod/cpu.max", "150000 100000\n");
  write("pod/container/cpu.max", "400000 100000\n");
  write("pod/memory.max", "1073741824\n");
  write("pod/container/memory.max", "max\n");
  EXPECT_DOUBLE_EQ(cgroup_cpu_quota({root_, "0::/pod/container\n"}), 1.5);
  EXPECT_EQ(cgroup_memory_limit({root_, "0::/pod/container\n"}), 1u << 30);
}

TEST_F(CgroupTest, ReadsV1) {
  write("cpu/job/cpu.cfs_quota_us", "50000");
  write("cpu/job/cpu.cfs_period_us", "100000");
  write("memory/job/memory.limit_in_bytes", "4096");
  const CgroupPlace place{root_, "5:memory:/job\n4:cpu,cpuacct:/job\n1:name=systemd:/job\n"};
  EXPECT_DOUBLE_EQ(cgroup_cpu_quota(place), 0.5);
  EXPECT_EQ(cgroup_memory_limit(place), 4096u);
}

TEST_F(CgroupTest, UnlimitedV1MeansNoQuota) {
  write("cpu/job/cpu.cfs_quota_us", "-1");
  write("cpu/job/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cgroup_cpu_quota({root_, "4:cpu,cpuacct:/job\n"}), 0);
}

TEST(ResourcesTest, AreThere) {
  EXPECT_GE(available_cpus(), 1);
  EXPECT_GT(available_memory_bytes(), std::size_t{1} << 24);
}

}  // namespace
}  // namespace proa
