#pragma once

#include <string>

namespace proa::loadgen {

// The machine that this process runs on: "AMD EPYC 7B13, 2 processors, Linux 6.1.0".
std::string describe_machine();

}  // namespace proa::loadgen
