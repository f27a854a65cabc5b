#include "backends/openvino/guard.h"

#include <vector>

namespace proa::backends::openvino {
namespace {

constexpr std::size_t kMaxReason = 400;

// Lines that speak to OpenVINO's own developers.
bool is_noise(std::string_view line) {
  return line.empty() || line.starts_with("Exception from ") || line.starts_with("Check '") ||
         line.starts_with("FrontEnd API failed") ||
         line.starts_with("Model wasn't fully converted") || line == "Summary:";
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string join_lines(std::string_view text, bool with_noise) {
  std::string joined;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = trim(text.substr(0, end));
    if (line.starts_with("-- ")) line.remove_prefix(3);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (line.empty() || (!with_noise && is_noise(line))) continue;
    if (!joined.empty()) joined += "; ";
    joined += line;
  }
  return joined;
}

}  // namespace

std::string readable_reason(std::string_view what) {
  std::string reason = join_lines(what, false);
  if (reason.empty()) reason = join_lines(what, true);
  if (reason.empty()) reason = "OpenVINO gave no reason";
  for (char& c : reason) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  if (reason.size() > kMaxReason) reason = reason.substr(0, kMaxReason) + "...";
  return reason;
}

}  // namespace proa::backends::openvino
