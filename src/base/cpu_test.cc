#include "base/cpu.h"

#include <gtest/gtest.h>

#include <fstream>

namespace proa {
namespace {

class CgroupTest : public testing::Test {
 protected:
  CgroupTest() : root_(testing::TempDir() + "/cgroup-" + std::to_string(getpid())) {}
  ~CgroupTest() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  std::filesystem::path root_;
};

TEST_F(CgroupTest, NoFilesMeansNoQuota) { EXPECT_EQ(cgroup_cpu_quota(root_, "0::/a\n"), 0); }

TEST_F(CgroupTest, TightestLevelOfV2Counts) {
  write("cpu.max", "max 100000\n");
  write("pod/cpu.max", "150000 100000\n");
  write("pod/container/cpu.max", "400000 100000\n");
  EXPECT_DOUBLE_EQ(cgroup_cpu_quota(root_, "0::/pod/container\n"), 1.5);
}

TEST_F(CgroupTest, ReadsV1) {
  write("cpu/job/cpu.cfs_quota_us", "50000");
  write("cpu/job/cpu.cfs_period_us", "100000");
  EXPECT_DOUBLE_EQ(cgroup_cpu_quota(root_, "4:cpu,cpuacct:/job\n1:name=systemd:/job\n"), 0.5);
}

TEST_F(CgroupTest, UnlimitedV1MeansNoQuota) {
  write("cpu/job/cpu.cfs_quota_us", "-1");
  write("cpu/job/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cgroup_cpu_quota(root_, "4:cpu,cpuacct:/job\n"), 0);
}

TEST(AvailableCpusTest, IsAtLeastOne) { EXPECT_GE(available_cpus(), 1); }

}  // namespace
}  // namespace proa
