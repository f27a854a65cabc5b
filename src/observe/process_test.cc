#include "observe/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/testing/manual_clock.h"

namespace proa::observe {
namespace {

double value_of(const std::vector<prometheus::MetricFamily>& families, const std::string& name) {
  const auto found = std::ranges::find(families, name, &prometheus::MetricFamily::name);
  EXPECT_NE(found, families.end()) << name;
  const prometheus::ClientMetric& metric = found->metric.at(0);
  return found->type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value;
}

TEST(ProcessMeterTest, FiguresAreReal) {
  const ProcessMeter meter(std::chrono::seconds(2), steady_clock());
  const auto families = meter.process();
  for (const char* name :
       {"process_resident_memory_bytes", "process_cpu_seconds_total", "process_open_fds",
        "process_threads", "process_start_time_seconds", "proa_processors"}) {
    EXPECT_GT(value_of(families, name), 0) << name;
  }
  EXPECT_GT(value_of(families, "process_virtual_memory_bytes"),
            value_of(families, "process_resident_memory_bytes"));
  EXPECT_GT(value_of(families, "process_max_fds"), value_of(families, "process_open_fds"));
  EXPECT_GT(value_of(families, "proa_memory_limit_bytes"),
            value_of(families, "process_resident_memory_bytes"));
}

// Keeps this thread busy for that many of the machine's ticks.
void burn(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(ProcessMeterTest, UtilisationIsMeasuredOncePerInterval) {
  ManualClock clock;
  ProcessMeter meter(std::chrono::seconds(2), clock);
  burn(std::chrono::milliseconds(50));
  clock.advance(std::chrono::seconds(2));
  const double first = value_of(meter.machine(), "nv_cpu_utilization");
  EXPECT_GT(first, 0);
  EXPECT_LE(first, 1);
  burn(std::chrono::milliseconds(50));
  clock.advance(std::chrono::seconds(1));
  EXPECT_EQ(value_of(meter.machine(), "nv_cpu_utilization"), first);
}

}  // namespace
}  // namespace proa::observe
