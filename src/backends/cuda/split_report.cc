// What runs where, for people and for programs.
#include <map>

#include "backends/cuda/split.h"
#include "fmt/format.h"

namespace proa::backends::cuda {
namespace {

std::string_view side_name(Side side) { return side == Side::kGpu ? "GPU" : "CPU"; }

std::size_t sum_bytes(const SplitModel& split, const std::vector<int>& tensors) {
  std::size_t sum = 0;
  for (const int tensor : tensors) sum += split.tensors[static_cast<std::size_t>(tensor)].bytes(1);
  return sum;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

std::string report_text(const SplitModel& split) {
  int on_gpu = 0, on_cpu = 0;
  for (const Part& part : split.parts)
    (part.side == Side::kGpu ? on_gpu : on_cpu) += part.operators;
  std::string text = fmt::format("{} operators on the GPU, {} on the CPU\n", on_gpu, on_cpu);
  if (split.parts.size() > 1) {
    for (const Part& part : split.parts) {
      text += fmt::format("  {}: {} operators, reads {} bytes and gives {} a row{}\n",
                          side_name(part.side), part.operators, sum_bytes(split, part.inputs),
                          sum_bytes(split, part.outputs),
                          part.row_us ? fmt::format(", {:.0f} us", *part.row_us) : "");
    }
  }
  // Equal reasons together, with a few of the nodes.
  constexpr std::size_t kMostNodes = 3;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> grouped;
  for (const Fallback& each : split.fallbacks) {
    grouped[{each.type, each.reason}].push_back(each.node);
  }
  for (const auto& [what, nodes] : grouped) {
    text += fmt::format("  on the CPU: {} x {}: {} (", nodes.size(), what.first, what.second);
    for (std::size_t i = 0; i < nodes.size() && i < kMostNodes; ++i) {
      text += fmt::format("{}'{}'", i == 0 ? "" : ", ", nodes[i]);
    }
    text += nodes.size() > kMostNodes ? ", ...)\n" : ")\n";
  }
  return text;
}

std::string report_json(const SplitModel& split) {
  std::string text = "{\"parts\":[";
  for (const Part& part : split.parts) {
    text += fmt::format(
        "{}{{\"device\":\"{}\",\"operators\":{},\"input_bytes\":{},\"output_bytes\":{}{}}}",
        text.back() == '[' ? "" : ",", side_name(part.side), part.operators,
        sum_bytes(split, part.inputs), sum_bytes(split, part.outputs),
        part.row_us ? fmt::format(",\"row_us\":{:.1f}", *part.row_us) : "");
  }
  text += "],\"fallbacks\":[";
  for (const Fallback& each : split.fallbacks) {
    text += fmt::format("{}{{\"node\":{},\"operator\":{},\"reason\":{},\"part\":{}}}",
                        text.back() == '[' ? "" : ",", json_string(each.node),
                        json_string(each.type), json_string(each.reason), each.part);
  }
  return text + "]}\n";
}

}  // namespace proa::backends::cuda
