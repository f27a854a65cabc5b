#pragma once

#include <string>

#include "base/result.h"
#include "infer.h"

namespace proa {

// Where the model of `proa infer MODEL` is.
struct ModelPlace {
  bool in_process = false;
  std::string url;  // of the server, else

  // "in this process", "at http://127.0.0.1:8000"
  std::string to_string() const;
};

// MODEL is a path with --in-process, or when it holds a '/' or ends like a model file; else it is a
// name on the server at --url, whatever lies in the current folder.
// Errors: kInvalidArgument for flags that mean nothing there, with the reason.
Result<ModelPlace> find_model_place(const InferOptions& options);

}  // namespace proa
