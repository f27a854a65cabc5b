#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "report.h"

namespace proa::engine_check {

struct CaseOptions {
  std::string folder;
  bool tune = false;      // times the candidates instead of taking the first
  bool own_only = false;  // our kernels, not the libraries': for tools that slow everything down
};

// Every operator case of a folder on the GPU, once with each implementation that takes it, against
// the host reference.
Status check_cases(const CaseOptions& options, Report& report);

struct NetworkOptions {
  std::string model;
  std::vector<std::int64_t> buckets = {1, 8};
  std::string cache;
  int threads = 16;
  std::string precision = "f16";  // f32, tf32
  bool tune = true;
  bool check = true;
  bool candidates = false;  // print what each took
  int streams = 0;          // also side by side, that many at once
};

// A model file on the GPU: answers against OpenVINO in FP32 on the CPU, then the time of one graph
// replay for each batch size.
Status check_network(const NetworkOptions& options, Report& report);

}  // namespace proa::engine_check
