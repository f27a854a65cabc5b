#pragma once

#include <cstdint>
#include <string>

namespace proa::loadgen {

// The machine that this process runs on: "AMD EPYC 7B13, 2 processors, Linux 6.1.0".
std::string describe_machine();

// Ticks of all processors since the machine started, and those in which a host ran something else
// on them while there was work. Zeros where the kernel does not tell. Source: proc_stat(5).
struct ProcessorTicks {
  std::uint64_t all = 0;
  std::uint64_t stolen = 0;

  static ProcessorTicks now();
  // The stolen share (0..1) since an earlier moment.
  double stolen_since(const ProcessorTicks& earlier) const;
};

}  // namespace proa::loadgen
