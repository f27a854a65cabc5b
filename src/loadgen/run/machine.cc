#include "loadgen/run/machine.h"

#include <sys/utsname.h>

#include <fstream>

#include "base/cpu.h"
#include "fmt/format.h"

namespace proa::loadgen {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "processor unknown";
}

}  // namespace

ProcessorTicks ProcessorTicks::now() {
  constexpr int kColumns = 8;  // user nice system idle iowait irq softirq steal
  ProcessorTicks ticks;
  std::ifstream file("/proc/stat");
  std::string name;
  file >> name;
  for (int i = 0; i < kColumns && file >> ticks.stolen; ++i) ticks.all += ticks.stolen;
  return file ? ticks : ProcessorTicks{};
}

double ProcessorTicks::stolen_since(const ProcessorTicks& earlier) const {
  if (all <= earlier.all || stolen < earlier.stolen) return 0;
  return static_cast<double>(stolen - earlier.stolen) / static_cast<double>(all - earlier.all);
}

std::string describe_machine() {
  utsname kernel{};
  ::uname(&kernel);
  return fmt::format("{}, {} processors, {} {}", processor_name(), available_cpus(), kernel.sysname,
                     kernel.release);
}

}  // namespace proa::loadgen
