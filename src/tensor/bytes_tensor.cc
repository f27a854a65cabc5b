#include "tensor/bytes_tensor.h"

#include <cstring>

namespace proa {
namespace {

constexpr std::size_t kPrefix = 4;

// Calls visit(element) for each element. The visitor sees views into `data`.
template <class Visit>
Status for_each_element(std::span<const std::byte> data, std::int64_t count, Visit visit) {
  std::size_t at = 0;
  std::int64_t index = 0;
  for (; index < count && at < data.size(); ++index) {
    std::uint32_t length = 0;
    if (data.size() - at < kPrefix) {
      return error::invalid_argument(
          "BYTES element {} is cut short: {} bytes left of a 4-byte length", index,
          data.size() - at);
    }
    std::memcpy(&length, data.data() + at, kPrefix);
    at += kPrefix;
    if (data.size() - at < length) {
      return error::invalid_argument("BYTES element {} announces {} bytes but only {} follow",
                                     index, length, data.size() - at);
    }
    visit(std::string_view(reinterpret_cast<const char*>(data.data() + at), length));
    at += length;
  }
  if (index < count) {
    return error::invalid_argument("expected {} BYTES elements, got {}", count, index);
  }
  if (at != data.size()) {
    return error::invalid_argument("{} bytes follow the {} expected BYTES elements",
                                   data.size() - at, count);
  }
  return {};
}

}  // namespace

Status check_bytes_elements(std::span<const std::byte> data, std::int64_t count) {
  return for_each_element(data, count, [](std::string_view) {});
}

Result<std::vector<std::string_view>> read_bytes_elements(std::span<const std::byte> data,
                                                          std::int64_t count) {
  std::vector<std::string_view> elements;
  PROA_TRY(for_each_element(data, count,
                            [&](std::string_view element) { elements.push_back(element); }));
  return elements;
}

std::size_t bytes_elements_length(std::span<const std::byte> data, std::int64_t count) {
  std::size_t at = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint32_t length = 0;
    std::memcpy(&length, data.data() + at, kPrefix);
    at += kPrefix + length;
  }
  return at;
}

void append_bytes_element(std::string& out, std::string_view element) {
  const auto length = static_cast<std::uint32_t>(element.size());
  out.append(reinterpret_cast<const char*>(&length), kPrefix);
  out.append(element);
}

}  // namespace proa
