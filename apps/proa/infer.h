#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "image/picture_plan.h"

namespace CLI {
class App;
}

namespace proa {

struct InferOptions {
  std::string model;                            // a name on a server, or a path
  std::vector<std::filesystem::path> pictures;  // one request each
  std::vector<std::string> inputs;              // NAME=VALUE
  std::vector<std::string> outputs;             // names; empty = all
  std::string url;                              // "" = the default (model_place.h)
  bool in_process = false;
  std::string version;
  std::optional<double> timeout_s;  // default 60; only for servers
  image::PictureOptions picture;
  std::string picture_input;
  int top = 5;
  std::filesystem::path labels;
  bool softmax = false;
  std::filesystem::path save;  // folder for outputs as .npy
};

// Adds `proa infer` to `app`; `options` must outlive the parsing.
CLI::App* add_infer_command(CLI::App& app, InferOptions& options);

// `proa infer`: one prediction per picture, or one from arrays, printed to standard output.
// Returns the process's exit status: 0; after an error that was printed 2 when the command line is
// to blame, else 1.
int run_infer(const InferOptions& options);

}  // namespace proa
