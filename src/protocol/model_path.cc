#include "protocol/model_path.h"

#include <cctype>

#include "fmt/format.h"

namespace proa::protocol {
namespace {

std::string percent_encode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("-._~").contains(c)) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace

std::string model_path(std::string_view name, std::string_view version) {
  std::string path = "/v2/models/" + percent_encode(name);
  if (!version.empty()) path += "/versions/" + percent_encode(version);
  return path;
}

}  // namespace proa::protocol
