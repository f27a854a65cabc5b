#include "observe/process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/cgroup.h"
#include "base/cpu.h"
#include "base/memory.h"
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
double number_after(const std::filesystem::path& path, const std::string& key) {
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

// The time that the control groups of this process held it back; the strictest level counts.
double throttled_seconds() {
  const CgroupFolders folders = cgroup_folders(CgroupPlace::of_this_process(), "cpu");
  double seconds = 0;
  for (const auto& folder : folders.v2) {
    seconds = std::max(seconds, number_after(folder / "cpu.stat", "throttled_usec") * 1e-6);
  }
  for (const auto& folder : folders.v1) {
    seconds = std::max(seconds, number_after(folder / "cpu.stat", "throttled_time") * 1e-9);
  }
  return seconds;
}

double max_open_files() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<double>(limit.rlim_cur);
}

MetricFamily gauge(std::string name, std::string help, double value) {
  return single(std::move(name), std::move(help), MetricType::Gauge, value);
}

MetricFamily counter(std::string name, std::string help, double value) {
  return single(std::move(name), std::move(help), MetricType::Counter, value);
}

}  // namespace

ProcessMeter::ProcessMeter(Duration interval, const Clock& clock)
    : interval_(interval), clock_(clock), ticks_(read_ticks()), began_(clock.now()) {}

ProcessMeter::Ticks ProcessMeter::read_ticks() {
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;  // "cpu"
  Ticks ticks;
  double value = 0;
  for (int i = 0; i < 8 && file >> value; ++i) {
    ticks.all += value;
    if (i != 3 && i != 4) ticks.busy += value;  // all but idle and iowait
  }
  return ticks;
}

double ProcessMeter::cpu_utilization() {
  MutexLock lock(mutex_);
  const TimePoint now = clock_.now();
  const bool over = now - began_ >= interval_;
  if (measured_ && !over) return utilization_;
  const Ticks ticks = read_ticks();
  const double all = ticks.all - ticks_.all;
  utilization_ = all > 0 ? std::clamp((ticks.busy - ticks_.busy) / all, 0.0, 1.0) : 0;
  if (over) {
    measured_ = true;
    ticks_ = ticks;
    began_ = now;
  }
  return utilization_;
}

std::vector<MetricFamily> ProcessMeter::machine() {
  const double total = number_after("/proc/meminfo", "MemTotal:") * 1024;
  const double available = number_after("/proc/meminfo", "MemAvailable:") * 1024;
  return {
      gauge("nv_cpu_utilization", "CPU utilization rate [0.0 - 1.0]", cpu_utilization()),
      gauge("nv_cpu_memory_total_bytes", "CPU total memory (RAM), in bytes", total),
      gauge("nv_cpu_memory_used_bytes", "CPU used memory (RAM), in bytes", total - available),
  };
}

std::vector<MetricFamily> ProcessMeter::process() const {
  const double page = static_cast<double>(sysconf(_SC_PAGESIZE));
  std::ifstream statm("/proc/self/statm");
  double pages = 0, resident = 0;
  statm >> pages >> resident;
  return {
      // Triton always exports these two; there is no such pool here.
      gauge("nv_pinned_memory_pool_total_bytes", "Pinned memory pool total memory size, in bytes",
            0),
      gauge("nv_pinned_memory_pool_used_bytes", "Pinned memory pool used memory size, in bytes", 0),
      gauge("process_resident_memory_bytes", "Resident memory of this process", resident * page),
      gauge("process_virtual_memory_bytes", "Address space of this process", pages * page),
      counter("process_cpu_seconds_total", "Processor time of this process", process_cpu_seconds()),
      gauge("process_open_fds", "Open file descriptors", open_files()),
      gauge("process_max_fds", "File descriptors that may be open", max_open_files()),
      gauge("process_threads", "Threads of this process",
            number_after("/proc/self/status", "Threads:")),
      gauge("process_start_time_seconds", "Start of this process since the Unix epoch",
            start_time()),
      gauge("proa_processors", "Processors that this process may use, by affinity and quota",
            available_cpus()),
      gauge("proa_memory_limit_bytes", "Memory that this process may use, by machine and container",
            static_cast<double>(available_memory_bytes())),
      counter("proa_cgroup_throttled_seconds_total",
              "Time this container was held back by its processor quota", throttled_seconds()),
  };
}

}  // namespace proa::observe
