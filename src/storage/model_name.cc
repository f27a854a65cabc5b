#include "storage/model_name.h"

#include <algorithm>

#include "base/log.h"
#include "base/utf8.h"

namespace proa::storage {
namespace {

constexpr std::size_t kMaxBytes = 255;  // Source: NAME_MAX of Linux

// "" when nothing is.
std::string_view what_is_wrong(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name == "." || name == "..") return "it names no folder of the repository";
  if (name.size() > kMaxBytes) return "it is longer than 255 bytes";
  if (name.find('/') != std::string_view::npos) return "it contains '/'";
  if (!is_utf8(name)) return "it is not UTF-8 text";
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(name, is_control)) return "it contains a control character";
  return "";
}

// Readable, and UTF-8 itself: the text goes to clients.
std::string shown(std::string_view name) {
  std::string text;
  for (const char c : log::printable(name.substr(0, kMaxBytes))) {
    text.push_back(static_cast<unsigned char>(c) < 0x80 ? c : '?');
  }
  return name.size() > kMaxBytes ? text + "..." : text;
}

}  // namespace

Status check_model_name(std::string_view name) {
  const std::string_view wrong = what_is_wrong(name);
  if (wrong.empty()) return {};
  return error::invalid_argument(
      "'{}' is no model name: {}; a model is named like its folder in the repository", shown(name),
      wrong);
}

bool is_known_clutter(std::string_view name) {
  return name == "lost+found" || name == "__pycache__";
}

}  // namespace proa::storage
