#include "save_names.h"

#include "fmt/format.h"

namespace proa {
namespace {

// `name`, or the first of name-2, name-3, ... that is not in `taken`; puts it there.
std::string take_unique(std::set<std::string>& taken, const std::string& name) {
  std::string unique = name;
  for (int i = 2; !taken.insert(unique).second; ++i) unique = fmt::format("{}-{}", name, i);
  return unique;
}

std::string as_file_name(std::string_view output) {
  std::string name(output);
  for (char& c : name) {
    if (c == '/' || c == ':' || static_cast<unsigned char>(c) < 0x20) c = '_';
  }
  return name;
}

}  // namespace

SaveNames::SaveNames(std::filesystem::path folder,
                     const std::vector<std::filesystem::path>& pictures)
    : folder_(std::move(folder)) {
  if (pictures.size() < 2) return;
  std::set<std::string> stems;
  for (const auto& picture : pictures) {
    prefixes_.push_back(take_unique(stems, picture.stem().string()) + ".");
  }
}

std::filesystem::path SaveNames::take(std::size_t picture, std::string_view name) {
  const std::string prefix = prefixes_.empty() ? std::string() : prefixes_[picture];
  return folder_ / (take_unique(taken_, prefix + as_file_name(name)) + ".npy");
}

}  // namespace proa
