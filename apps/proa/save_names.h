#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace proa {

// Where the outputs of one run of `proa infer --save` go; no two go to the same file.
// One picture, or none: FOLDER/OUTPUT.npy. Several: FOLDER/STEM.OUTPUT.npy, where a STEM that was
// taken becomes STEM-2, STEM-3. '/', ':' and control characters of output names become '_'.
class SaveNames {
 public:
  SaveNames(std::filesystem::path folder, const std::vector<std::filesystem::path>& pictures);

  // For output `name` of the picture at index `picture`; each call takes a name.
  std::filesystem::path take(std::size_t picture, std::string_view name);

 private:
  const std::filesystem::path folder_;
  std::vector<std::string> prefixes_;  // by picture; empty when there are not several
  std::set<std::string> taken_;
};

}  // namespace proa
