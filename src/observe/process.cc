#include "observe/process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "observe/families.h"

namespace proa::observe {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily single(std::string name, std::string help, MetricType type, double value) {
  MetricFamily result = family(std::move(name), std::move(help), type);
  add_value(result, {}, value);
  return result;
}

// The number behind `key` in a text of "key value" lines; 0 when it is not there.
double number_after(const char* path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  double value = 0;
  while (file >> word) {
    if (word == key && file >> value) return value;
  }
  return 0;
}

double process_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double open_files() {
  std::error_code ignored;
  const std::filesystem::directory_iterator folder("/proc/self/fd", ignored);
  return static_cast<double>(
      std::distance(std::filesystem::begin(folder), std::filesystem::end(folder)));
}

// Seconds since the epoch at which this process started.
double start_time() {
  std::ifstream file("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  // The command name in brackets may hold blanks; the start time is the 20th word behind it.
  std::istringstream rest(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::string word;
  for (int i = 0; i < 20; ++i) rest >> word;
  return number_after("/proc/stat", "btime") +
         std::strtod(word.c_str(), nullptr) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

double ProcessMeter::cpu_utilization() {
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;  // "cpu"
  double all = 0, idle = 0, value = 0;
  for (int i = 0; i < 8 && file >> value; ++i) {
    all += value;
    if (i == 3 || i == 4) idle += value;  // idle, iowait
  }
  MutexLock lock(mutex_);
  const double all_delta = all - all_ticks_;
  const double busy_delta = (all - idle) - busy_ticks_;
  all_ticks_ = all;
  busy_ticks_ = all - idle;
  return all_delta > 0 ? std::clamp(busy_delta / all_delta, 0.0, 1.0) : 0;
}

std::vector<MetricFamily> ProcessMeter::collect() {
  const double page = static_cast<double>(sysconf(_SC_PAGESIZE));
  std::ifstream statm("/proc/self/statm");
  double pages = 0, resident = 0;
  statm >> pages >> resident;
  const double total = number_after("/proc/meminfo", "MemTotal:") * 1024;
  const double available = number_after("/proc/meminfo", "MemAvailable:") * 1024;
  return {
      single("nv_cpu_utilization", "CPU utilization rate [0.0 - 1.0]", MetricType::Gauge,
             cpu_utilization()),
      single("nv_cpu_memory_total_bytes", "CPU total memory (RAM), in bytes", MetricType::Gauge,
             total),
      single("nv_cpu_memory_used_bytes", "CPU used memory (RAM), in bytes", MetricType::Gauge,
             total - available),
      single("process_resident_memory_bytes", "Resident memory of this process", MetricType::Gauge,
             resident * page),
      single("process_cpu_seconds_total", "Processor time of this process", MetricType::Counter,
             process_cpu_seconds()),
      single("process_open_fds", "Open file descriptors", MetricType::Gauge, open_files()),
      single("process_threads", "Threads of this process", MetricType::Gauge,
             number_after("/proc/self/status", "Threads:")),
      single("process_start_time_seconds", "Start of this process since the Unix epoch",
             MetricType::Gauge, start_time()),
      single("proa_cgroup_throttled_seconds_total",
             "Time this container was held back by its processor quota", MetricType::Counter,
             number_after("/sys/fs/cgroup/cpu.stat", "throttled_usec") * 1e-6),
  };
}

}  // namespace proa::observe
