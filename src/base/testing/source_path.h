#pragma once

#include <filesystem>
#include <string_view>

namespace proa {

// A file of this checkout, by its path from the root. Defined in the build folder, so that the
// tests' objects are the same for every checkout.
std::filesystem::path source_path(std::string_view below_root);

}  // namespace proa
