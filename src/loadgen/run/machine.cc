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

std::string describe_machine() {
  utsname kernel{};
  ::uname(&kernel);
  return fmt::format("{}, {} processors, {} {}", processor_name(), available_cpus(), kernel.sysname,
                     kernel.release);
}

}  // namespace proa::loadgen
