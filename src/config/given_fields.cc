#include "config/given_fields.h"

namespace proa::config {

Position GivenFields::find(std::string_view path) const {
  while (!path.empty()) {
    if (const auto found = fields_.find(path); found != fields_.end()) return found->second;
    const std::size_t cut = path.find_last_of(".[");
    path = cut == std::string_view::npos ? std::string_view() : path.substr(0, cut);
  }
  return {};
}

}  // namespace proa::config
