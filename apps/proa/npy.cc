#include "npy.h"

#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <vector>

#include "fmt/format.h"
#include "storage/local_folder.h"

namespace proa {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kMaxFileBytes = std::size_t{4} << 30;

struct TypeName {
  DataType type;
  std::string_view name;  // without byte order
};
// The first entry of a type is the one that is written.
constexpr std::array kTypeNames{
    TypeName{DataType::kBool, "b1"},   TypeName{DataType::kUint8, "u1"},
    TypeName{DataType::kUint16, "u2"}, TypeName{DataType::kUint32, "u4"},
    TypeName{DataType::kUint64, "u8"}, TypeName{DataType::kInt8, "i1"},
    TypeName{DataType::kInt16, "i2"},  TypeName{DataType::kInt32, "i4"},
    TypeName{DataType::kInt64, "i8"},  TypeName{DataType::kFp16, "f2"},
    TypeName{DataType::kFp32, "f4"},   TypeName{DataType::kFp64, "f8"},
    TypeName{DataType::kBf16, "u2"},
};

// The text behind "'key':" in the header's dictionary.
std::optional<std::string_view> find_value(std::string_view header, std::string_view key) {
  const std::size_t at = header.find(fmt::format("'{}'", key));
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t colon = header.find(':', at);
  if (colon == std::string_view::npos) return std::nullopt;
  const std::size_t begin = header.find_first_not_of(' ', colon + 1);
  if (begin == std::string_view::npos) return std::nullopt;
  return header.substr(begin);
}

Result<DataType> parse_descr(std::string_view header) {
  const auto value = find_value(header, "descr");
  if (value && value->size() > 1 && (*value)[0] == '\'') {
    const std::string_view descr = value->substr(1, value->find('\'', 1) - 1);
    const bool ordered = !descr.empty() && (descr[0] == '<' || descr[0] == '|' || descr[0] == '=');
    for (const auto& [type, name] : kTypeNames) {
      if (ordered && descr.substr(1) == name) return type;
    }
    return error::invalid_argument(
        "its type is {}; numbers of 1 to 8 bytes in little-endian order can be read", descr);
  }
  return error::invalid_argument("its type is a record; plain arrays can be read");
}

// "(2, 3)", "(5,)", "()"
Result<Shape> parse_shape(std::string_view header) {
  const auto value = find_value(header, "shape");
  const Error malformed = error::invalid_argument("its header has no shape");
  if (!value || (*value)[0] != '(') return malformed;
  std::string_view text = value->substr(1, value->find(')') - 1);
  Shape shape;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    if (text.empty()) break;
    std::int64_t extent = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (failure != std::errc{} || extent < 0) return malformed;
    shape.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return shape;
}

// The dictionary, and where the numbers begin.
struct Header {
  std::string_view text;
  std::size_t data_offset = 0;
};
Result<Header> find_header(std::string_view file) {
  constexpr std::size_t kVersionAt = 6, kLengthAt = 8;
  if (!file.starts_with(kMagic) || file.size() < 12) {
    return error::invalid_argument("it does not begin like an .npy file");
  }
  const std::size_t length_bytes = file[kVersionAt] == 1 ? 2 : 4;
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(file[kLengthAt + i])) << 8 * i;
  }
  const std::size_t begin = kLengthAt + length_bytes;
  if (length > file.size() - begin) return error::invalid_argument("it is cut short");
  return Header{file.substr(begin, length), begin + length};
}

// Copies numbers whose first index runs fastest so that the last one does.
void reorder(const Shape& shape, std::size_t element, const char* from, std::byte* to) {
  const std::size_t rank = shape.rank();
  std::vector<std::size_t> steps(rank), index(rank, 0);
  std::size_t count = 1;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    steps[axis] = count;
    count *= static_cast<std::size_t>(shape[axis]);
  }
  std::size_t source = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(to + i * element, from + source * element, element);
    for (std::size_t axis = rank; axis-- > 0;) {
      source += steps[axis];
      if (++index[axis] < static_cast<std::size_t>(shape[axis])) break;
      source -= steps[axis] * index[axis];
      index[axis] = 0;
    }
  }
}

Result<bool> parse_fortran_order(std::string_view header) {
  const auto order = find_value(header, "fortran_order");
  if (order && order->starts_with("True")) return true;
  if (order && order->starts_with("False")) return false;
  return error::invalid_argument("its header has no fortran_order");
}

}  // namespace

Result<Tensor> parse_npy(std::string_view file) {
  PROA_ASSIGN(const Header header, find_header(file));
  Tensor tensor;
  PROA_ASSIGN(tensor.type, parse_descr(header.text));
  PROA_ASSIGN(const bool fortran_order, parse_fortran_order(header.text));
  PROA_ASSIGN(tensor.shape, parse_shape(header.text));
  PROA_ASSIGN(const std::size_t bytes, dense_byte_size(tensor.type, tensor.shape));
  const std::string_view data = file.substr(header.data_offset);
  if (data.size() != bytes) {
    return error::invalid_argument("it holds {} bytes of numbers; {} of shape {} are {}",
                                   data.size(), data_type_name(tensor.type),
                                   tensor.shape.to_string(), bytes);
  }
  Buffer buffer = Buffer::allocate(bytes);
  if (fortran_order && bytes > 0) {
    reorder(tensor.shape, element_size(tensor.type), data.data(), buffer.data());
  } else if (bytes > 0) {
    std::memcpy(buffer.data(), data.data(), bytes);
  }
  tensor.data = BufferView(std::move(buffer));
  return tensor;
}

Result<std::string> format_npy(const Tensor& tensor) {
  std::string_view name;
  for (const auto& entry : kTypeNames) {
    if (entry.type == tensor.type) name = entry.name;
  }
  if (name.empty()) {
    return error::invalid_argument("{} cannot be written as .npy", data_type_name(tensor.type));
  }
  std::string shape;
  for (const std::int64_t extent : tensor.shape) shape += fmt::format("{}, ", extent);
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   element_size(tensor.type) == 1 ? '|' : '<', name, shape);
  // Spaces and a line feed, so that the numbers begin at a multiple of 64.
  constexpr std::size_t kPrefix = 10, kAlignment = 64;
  header.resize((kPrefix + header.size() + kAlignment) / kAlignment * kAlignment - kPrefix, ' ');
  header.back() = '\n';
  std::string file(kMagic);
  file +=
      {'\1', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  file += header;
  file.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size);
  return file;
}

Result<Tensor> read_npy(const std::filesystem::path& path) {
  PROA_ASSIGN(const std::string file, storage::read_file(path, kMaxFileBytes));
  auto tensor = parse_npy(file);
  if (!tensor) return with_context(path.string(), std::move(tensor).error());
  return tensor;
}

Status write_npy(const std::filesystem::path& path, const Tensor& tensor) {
  PROA_ASSIGN(const std::string bytes, format_npy(tensor));
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  file.close();
  if (!file) return error::internal("{} cannot be written", path.string());
  return {};
}

}  // namespace proa
