#include "lifecycle/warm_up_samples.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "base/log.h"
#include "tensor/bytes_tensor.h"

namespace proa::lifecycle {
namespace {

namespace fs = std::filesystem;
using Input = config::WarmUp::Input;
using Data = config::WarmUp::Data;

constexpr std::size_t kStringLengthBytes = 4;
constexpr int kRandomLetters = 8;

BufferView to_buffer(std::string_view bytes) {
  Buffer buffer = Buffer::allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return BufferView(std::move(buffer));
}

template <class Value>
void append(std::string& out, Value value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// One element of pseudo-random data.
void append_random(std::string& out, DataType type, std::mt19937& random) {
  // Half-precision patterns below that of 1.
  constexpr std::uint16_t kBelowOneFp16 = 0x3bff;
  constexpr std::uint16_t kBelowOneBf16 = 0x3f7f;
  constexpr unsigned kIntegers = 100;
  const auto number = static_cast<unsigned>(random());
  switch (type) {
    case DataType::kBool:
      return append(out, static_cast<std::uint8_t>(number & 1));
    case DataType::kFp16:
      return append(out, static_cast<std::uint16_t>(number & kBelowOneFp16));
    case DataType::kBf16:
      return append(out, static_cast<std::uint16_t>(number & kBelowOneBf16));
    case DataType::kFp32:
      return append(out, std::generate_canonical<float, 24>(random));
    case DataType::kFp64:
      return append(out, std::generate_canonical<double, 53>(random));
    case DataType::kBytes: {
      std::string letters;
      for (int i = 0; i < kRandomLetters; ++i) {
        letters += static_cast<char>('a' + static_cast<int>(random() % 26));
      }
      return append_bytes_element(out, letters);
    }
    default: {
      const std::uint64_t integer = number % kIntegers;  // little endian: its front is the value
      out.append(reinterpret_cast<const char*>(&integer), element_size(type));
    }
  }
}

std::string random_data(DataType type, std::int64_t elements) {
  std::mt19937 random;  // NOLINT: the same at every start, on purpose
  std::string data;
  for (std::int64_t i = 0; i < elements; ++i) append_random(data, type, random);
  return data;
}

std::size_t bytes_of_element(const Input& input) {
  if (input.type != DataType::kBytes) return element_size(input.type);
  return kStringLengthBytes + (input.data == Data::kRandom ? kRandomLetters : 0);
}

Result<std::string> file_data(const storage::LocalFolder& repository, const fs::path& folder,
                              const std::string& file, std::int64_t rows, std::size_t room) {
  PROA_TRY(storage::check_relative_path(file));
  PROA_ASSIGN(const fs::path path, repository.find_inside(folder, "warmup/" + file));
  PROA_ASSIGN(const std::string row, storage::read_file(path, kMaxWarmUpFileBytes));
  if (row.size() > room / static_cast<std::size_t>(rows)) {
    return error::invalid_argument(
        "file {} of {} bytes, {} times, is more than the {} bytes that are left of the {} of one "
        "warm-up request: lower batch_size",
        log::printable(file), row.size(), rows, room, kMaxWarmUpBytes);
  }
  std::string data;
  for (std::int64_t i = 0; i < rows; ++i) data += row;
  return data;
}

Error too_large(const Shape& shape, std::string_view bytes, std::size_t room) {
  return error::invalid_argument(
      "shape {} has {} bytes, and of the {} bytes of one warm-up request {} are left: lower "
      "batch_size or dims",
      shape.to_string(), bytes, kMaxWarmUpBytes, room);
}

// At most `room` bytes.
Result<Tensor> make_tensor(const storage::LocalFolder& repository, const fs::path& folder,
                           const Input& input, const Shape& shape, std::int64_t rows,
                           std::size_t room) {
  if (!shape.is_fully_known()) {
    return error::invalid_argument("dims {} are not wholly known: a request has one shape",
                                   shape.to_string());
  }
  const std::optional<std::int64_t> elements = shape.element_count();
  if (!elements) return too_large(shape, "more than 2^63", room);
  const std::size_t width = bytes_of_element(input);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(*elements), width, &bytes) || bytes > room) {
    return too_large(shape, fmt::format("{} times {}", *elements, width), room);
  }
  std::string data;
  switch (input.data) {
    case Data::kZero:
      data.assign(bytes, '\0');
      break;
    case Data::kRandom:
      data = random_data(input.type, *elements);
      break;
    case Data::kFile:
      PROA_ASSIGN(data, file_data(repository, folder, input.file, rows, room));
      break;
  }
  return Tensor{input.type, shape, to_buffer(data)};
}

}  // namespace

Result<std::vector<core::WarmUpSample>> make_warm_up_samples(const storage::LocalFolder& repository,
                                                             const fs::path& folder,
                                                             const config::ModelConfig& config) {
  std::vector<core::WarmUpSample> samples;
  for (const config::WarmUp& warm_up : config.warm_ups) {
    if (warm_up.batch_size == 0) continue;
    core::WarmUpSample sample{.name = warm_up.name, .count = std::max(1, warm_up.count)};
    std::size_t room = kMaxWarmUpBytes;
    for (const auto& [name, input] : warm_up.inputs) {
      const Shape shape = config.batches() ? input.dims.with_first(warm_up.batch_size) : input.dims;
      auto tensor = make_tensor(repository, folder, input, shape,
                                config.batches() ? warm_up.batch_size : 1, room);
      if (!tensor) {
        return with_context(fmt::format("model_warmup '{}', input '{}'", warm_up.name, name),
                            std::move(tensor.error()));
      }
      room -= tensor->data.size;
      sample.inputs.push_back({name, *std::move(tensor)});
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace proa::lifecycle
