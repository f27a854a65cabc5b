#include "protocol/typed_contents.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "base/check.h"
#include "protocol/typed.h"
#include "protocol/wire_reader.h"
#include "tensor/bytes_tensor.h"

namespace proa::protocol {
namespace {

// Fields of InferTensorContents, by number.
enum class Field : std::uint32_t {
  kNone = 0,
  kBool = 1,
  kInt = 2,
  kInt64 = 3,
  kUint = 4,
  kUint64 = 5,
  kFp32 = 6,
  kFp64 = 7,
  kBytes = 8,
};

constexpr auto kFieldNames = std::to_array<std::string_view>(
    {"", "bool_contents", "int_contents", "int64_contents", "uint_contents", "uint64_contents",
     "fp32_contents", "fp64_contents", "bytes_contents"});

std::string_view field_name(Field field) { return kFieldNames[static_cast<std::size_t>(field)]; }

Field field_of(DataType type) {
  switch (type) {
    case DataType::kBool:
      return Field::kBool;
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32:
      return Field::kInt;
    case DataType::kInt64:
      return Field::kInt64;
    case DataType::kUint8:
    case DataType::kUint16:
    case DataType::kUint32:
      return Field::kUint;
    case DataType::kUint64:
      return Field::kUint64;
    case DataType::kFp32:
      return Field::kFp32;
    case DataType::kFp64:
      return Field::kFp64;
    case DataType::kBytes:
      return Field::kBytes;
    case DataType::kFp16:
    case DataType::kBf16:
    case DataType::kInvalid:
      break;
  }
  return Field::kNone;
}

WireType wire_type_of(Field field) {
  if (field == Field::kFp32) return WireType::kFixed32;
  if (field == Field::kFp64) return WireType::kFixed64;
  return field == Field::kBytes ? WireType::kBytes : WireType::kVarint;
}

Error malformed() { return error::invalid_argument("contents: malformed protobuf"); }

// The number that a varint on the wire means in a field of type int32, uint32 and so on.
template <class T>
auto wire_value(std::uint64_t raw) {
  if constexpr (std::is_same_v<T, bool>) {
    return raw != 0;
  } else if constexpr (sizeof(T) == 8) {
    return static_cast<T>(raw);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<std::int32_t>(raw);
  } else {
    return static_cast<std::uint32_t>(raw);
  }
}

// How many varints a run holds: each ends with the one byte that has no continuation bit.
std::size_t count_varints(std::string_view run) {
  return static_cast<std::size_t>(
      std::ranges::count_if(run, [](char c) { return (c & 0x80) == 0; }));
}

// Adds up how many bytes the elements of one type take as a tensor.
class Measure {
 public:
  explicit Measure(DataType type) : type_(type), element_size_(element_size(type)) {}

  // One element outside of a packed run, or a whole packed run.
  Status add(WireReader& in, std::uint32_t tag) {
    std::string_view bytes;
    if (static_cast<WireType>(tag & 7) != WireType::kBytes) {
      bytes_ += element_size_;
      return in.skip(tag) ? Status() : Status(malformed());
    }
    if (!in.read_bytes(bytes)) return malformed();
    if (type_ == DataType::kBytes) {
      bytes_ += sizeof(std::uint32_t) + bytes.size();
    } else if (type_ == DataType::kFp32 || type_ == DataType::kFp64) {
      bytes_ += bytes.size();
    } else {
      bytes_ += count_varints(bytes) * element_size_;
    }
    return {};
  }

  std::size_t bytes() const { return bytes_; }

 private:
  DataType type_;
  std::size_t element_size_;
  std::size_t bytes_ = 0;
};

// Writes elements of one type into a buffer of the size that Measure gave.
class Elements {
 public:
  Elements(DataType type, std::size_t bytes)
      : type_(type), element_size_(element_size(type)), buffer_(Buffer::allocate(bytes)) {}

  // One element outside of a packed run, or a whole packed run.
  Status add(WireReader& in, std::uint32_t tag) {
    const auto type = static_cast<WireType>(tag & 7);
    if (type_ == DataType::kBytes) return add_string(in);
    if (type != WireType::kBytes) return add_one(in);
    std::string_view run;
    if (!in.read_bytes(run)) return malformed();
    if (type_ == DataType::kFp32 || type_ == DataType::kFp64) {
      if (run.size() % element_size_ != 0) return malformed();
      return append(run.data(), run.size());
    }
    for (WireReader elements(run); !elements.done();) PROA_TRY(add_one(elements));
    return {};
  }

  BufferView take() {
    PROA_CHECK(size_ == buffer_.size(), "Measure and Elements count alike");
    return BufferView(std::move(buffer_));
  }

 private:
  Status append(const void* data, std::size_t size) {
    PROA_CHECK(size <= buffer_.size() - size_, "Measure and Elements count alike");
    if (size > 0) std::memcpy(buffer_.data() + size_, data, size);
    size_ += size;
    return {};
  }

  Status add_string(WireReader& in) {
    std::string_view element;
    if (!in.read_bytes(element)) return malformed();
    const auto length = static_cast<std::uint32_t>(element.size());
    PROA_TRY(append(&length, sizeof length));
    return append(element.data(), element.size());
  }

  Status add_one(WireReader& in) {
    return visit_element_type(type_, [&]<class T>(std::type_identity<T>) -> Status {
      if constexpr (std::is_floating_point_v<T>) {
        std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t> raw = 0;
        if (!read_word(in, raw)) return malformed();
        return append(&raw, sizeof raw);
      } else if constexpr (std::is_integral_v<T>) {
        std::uint64_t raw = 0;
        if (!in.read_varint(raw)) return malformed();
        const auto value = wire_value<T>(raw);
        T element{};
        if (!convert_element(value, element)) {
          return error::invalid_argument("{} does not fit {}", value, data_type_name(type_));
        }
        return append(&element, sizeof element);
      } else {
        PROA_CHECK(false, "types without a contents field are refused before");
      }
    });
  }

  static bool read_word(WireReader& in, std::uint32_t& raw) { return in.read_fixed32(raw); }
  static bool read_word(WireReader& in, std::uint64_t& raw) { return in.read_fixed64(raw); }

  DataType type_;
  std::size_t element_size_;
  Buffer buffer_;
  std::size_t size_ = 0;
};

// Whether `tag` carries elements, and of which field. A known number with a wire type that the
// field cannot have is an unknown field to protobuf.
Field element_field(std::uint32_t tag) {
  const std::uint32_t number = tag >> 3;
  if (number == 0 || number > static_cast<std::uint32_t>(Field::kBytes)) return Field::kNone;
  const auto field = static_cast<Field>(number);
  const auto type = static_cast<WireType>(tag & 7);
  return type == WireType::kBytes || type == wire_type_of(field) ? field : Field::kNone;
}

// Gives every element, or packed run, to `target`.
template <class Target>
Status for_each_run(std::span<const std::string_view> contents, DataType type, Target& target) {
  const Field wanted = field_of(type);
  for (const std::string_view part : contents) {
    for (WireReader in(part); !in.done();) {
      std::uint32_t tag = 0;
      if (!in.read_tag(tag)) return malformed();
      const Field field = element_field(tag);
      if (field == Field::kNone) {
        if (!in.skip(tag)) return malformed();
        continue;
      }
      if (wanted == Field::kNone) {
        return error::invalid_argument("{} tensors travel in raw_input_contents only, got {}",
                                       data_type_name(type), field_name(field));
      }
      if (field != wanted) {
        return error::invalid_argument("{} elements belong in {}, got {}", data_type_name(type),
                                       field_name(wanted), field_name(field));
      }
      PROA_TRY(target.add(in, tag));
    }
  }
  return {};
}

}  // namespace

Result<BufferView> read_typed_contents(std::span<const std::string_view> contents, DataType type,
                                       std::size_t max_bytes) {
  Measure measure(type);
  PROA_TRY(for_each_run(contents, type, measure));
  if (measure.bytes() > max_bytes) {
    return error::unavailable(
        "contents become {} bytes, but requests in flight leave room for {} only: send again "
        "later, "
        "or as raw_input_contents",
        measure.bytes(), max_bytes);
  }
  Elements elements(type, measure.bytes());
  PROA_TRY(for_each_run(contents, type, elements));
  return elements.take();
}

}  // namespace proa::protocol
