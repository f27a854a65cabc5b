#include "engine/testing/cases.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "engine/graph/text.h"

namespace proa::engine {
namespace {

Status read_file(const std::filesystem::path& path, std::vector<OperatorCase>& cases) {
  std::ifstream in(path);
  std::vector<std::pair<std::string, std::string>> texts;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("case ")) {
      texts.emplace_back(path.stem().string() + "/" + line.substr(5), "");
    } else if (!texts.empty()) {
      texts.back().second += line + "\n";
    }
  }
  for (auto& [name, text] : texts) {
    auto graph = parse_graph(text);
    if (!graph) return with_context(name, std::move(graph).error());
    graph->name = name;
    cases.push_back({name, std::move(*graph)});
  }
  return {};
}

}  // namespace

Result<std::vector<OperatorCase>> read_operator_cases(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  if (failed) return error::not_found("folder '{}': {}", folder, failed.message());
  std::ranges::sort(paths);
  std::vector<OperatorCase> cases;
  for (const auto& path : paths) PROA_TRY(read_file(path, cases));
  return cases;
}

std::vector<HostTensor> random_inputs(const Graph& graph) {
  std::vector<HostTensor> inputs;
  for (ValueId id : graph.inputs) {
    const Value& value = graph.value(id);
    float low = -1, high = 1;
    if (value.type == DataType::kUint8) {
      low = 0, high = 255;
    } else if (value.type != DataType::kFp32 && value.type != DataType::kFp16) {
      low = -8, high = 8;
    }
    HostTensor input{
        value.shape,
        random_numbers(inputs.size() + 1, static_cast<std::size_t>(value.elements()), low, high)};
    round_to(value.type, input.data);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace proa::engine
