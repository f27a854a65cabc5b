#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace CLI {
class App;
}

namespace proa {

struct IndexBuildOptions {
  std::filesystem::path repository;  // holds the pipeline
  std::string pipeline;
  std::string input;   // "" = the only one of type BYTES
  std::string output;  // "" = the only one of type FP32
  std::filesystem::path pictures;
  std::filesystem::path into;  // folder of the model that serves the index
  std::string metric = "cosine";
  std::string kind = "flat";
  std::int64_t k = 10;
};

// Adds `proa index` with its sub-commands to `app`; `options` must outlive the parsing.
CLI::App* add_index_command(CLI::App& app, IndexBuildOptions& options);

// `proa index build`: vectors of all pictures of a folder by a pipeline, and a new version of the
// model that serves them. Returns the process's exit status: 0, 1 after a failure (stderr says
// which), 130 when interrupted; run again, it goes on where it ended.
int run_index_build(const IndexBuildOptions& options);

}  // namespace proa
