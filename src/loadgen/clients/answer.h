#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "loadgen/payloads.h"

namespace proa::loadgen {

// Answers of a server, taken apart to be compared with what was expected. Not on the path of
// requests without expected outputs.

// The outputs in the body of a 200 from HTTP, whose JSON has `json_size` bytes (0: all of it).
// JSON data and binary tensors. Errors: kInternal when it is no KServe v2 answer.
Result<std::vector<NamedTensor>> read_http_answer(std::string_view body, std::size_t json_size);

// The outputs of a serialised ModelInferResponse.
Result<std::vector<NamedTensor>> read_grpc_answer(std::string_view message);

// The text of an HTTP error: {"error": "..."}, or what came.
std::string http_error_text(std::string_view body);

}  // namespace proa::loadgen
