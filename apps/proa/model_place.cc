#include "model_place.h"

#include <algorithm>
#include <array>

#include "fmt/format.h"
#include "http_client.h"

namespace proa {
namespace {

constexpr std::string_view kDefaultUrl = "http://127.0.0.1:8000";

bool is_path(std::string_view model) {
  constexpr std::array<std::string_view, 7> kEndings{".onnx", ".xml",      ".tflite",    ".pdmodel",
                                                     ".pb",   ".graphdef", ".savedmodel"};
  return model.contains('/') || model == "." || model == ".." ||
         std::ranges::any_of(kEndings, [&](auto ending) { return model.ends_with(ending); });
}

// Flags that speak of a server.
Status check_in_process(const InferOptions& options) {
  if (!options.version.empty()) {
    return error::invalid_argument(
        "--version chooses among the versions on a server, but {} runs in this process; name the "
        "version's file, like FOLDER/{}/model.onnx",
        options.model, options.version);
  }
  if (options.timeout_s) {
    return error::invalid_argument(
        "--timeout is how long to wait for a server, but {} runs in this process", options.model);
  }
  return {};
}

}  // namespace

std::string ModelPlace::to_string() const { return in_process ? "in this process" : "at " + url; }

Result<ModelPlace> find_model_place(const InferOptions& options) {
  if (options.in_process && !options.url.empty()) {
    return error::invalid_argument(
        "--in-process runs the model without a server, --url names a server: give one of them");
  }
  if (!options.url.empty() && options.model.contains('/')) {
    return error::invalid_argument(
        "{} is a path, which runs in this process, but --url names a server; give the model's name "
        "there",
        options.model);
  }
  if (options.in_process || (options.url.empty() && is_path(options.model))) {
    PROA_TRY(check_in_process(options));
    return ModelPlace{true, {}};
  }
  PROA_ASSIGN(const ServerAddress server,
              parse_server_url(options.url.empty() ? kDefaultUrl : options.url));
  return ModelPlace{false, server.url()};
}

}  // namespace proa
