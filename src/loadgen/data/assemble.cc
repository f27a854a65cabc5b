#include "loadgen/data/assemble.h"

#include <cstring>
#include <functional>
#include <numeric>
#include <string_view>
#include <unordered_set>

namespace proa::loadgen {
namespace {

// The elements of one request, in order.
using Group = std::vector<const Element*>;
using Tensors = std::vector<NamedTensor> Element::*;

Error unlike(const Element& a, const Element& b, const std::string& problem) {
  return error::invalid_argument(
      "{} and {} go into one batch, but {}; make them alike, or use -b 1", a.origin, b.origin,
      problem);
}

// Tensor `index` of every element, one behind the other.
Result<NamedTensor> join(const Group& group, Tensors which, std::size_t index) {
  const NamedTensor& first = (group[0]->*which)[index];
  std::size_t bytes = 0;
  for (const Element* element : group) {
    const NamedTensor& other = (element->*which)[index];
    if (other.name != first.name) {
      return unlike(*group[0], *element, "do not have the same tensors");
    }
    if (other.tensor.shape != first.tensor.shape) {
      return unlike(*group[0], *element,
                    fmt::format("'{}' is {} in one and {} in the other", first.name,
                                first.tensor.shape.to_string(), other.tensor.shape.to_string()));
    }
    bytes += other.tensor.data.size;
  }
  const Shape shape = first.tensor.shape.with_first(static_cast<std::int64_t>(group.size()));
  if (group.size() == 1) {
    return NamedTensor{first.name, Tensor{first.tensor.type, shape, first.tensor.data}};
  }
  Buffer buffer = Buffer::allocate(bytes);
  std::byte* at = buffer.data();
  for (const Element* element : group) {
    const BufferView& data = (element->*which)[index].tensor.data;
    std::memcpy(at, data.data(), data.size);
    at += data.size;
  }
  return NamedTensor{first.name, Tensor{first.tensor.type, shape, BufferView(std::move(buffer))}};
}

Result<std::vector<NamedTensor>> join_all(const Group& group, Tensors which, bool batches) {
  const std::vector<NamedTensor>& first = group[0]->*which;
  if (!batches) return first;
  std::vector<NamedTensor> joined;
  for (const Element* element : group) {
    if ((element->*which).size() != first.size()) {
      return unlike(*group[0], *element, "do not have the same tensors");
    }
  }
  for (std::size_t i = 0; i < first.size(); ++i) {
    PROA_ASSIGN(NamedTensor tensor, join(group, which, i));
    joined.push_back(std::move(tensor));
  }
  return joined;
}

// A number for the inputs' content; equal for equal inputs.
std::size_t content_hash(const Payload& payload) {
  std::size_t hash = 0;
  const auto mix = [&](std::size_t value) {
    hash ^= value + 0x9E3779B97F4A7C15ULL + (hash << 6) + (hash >> 2);
  };
  for (const NamedTensor& input : payload.inputs) {
    const std::span<std::byte> bytes = input.tensor.data.bytes();
    mix(std::hash<std::string_view>{}(input.name));
    mix(std::hash<std::string>{}(input.tensor.shape.to_string()));
    mix(std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }
  return hash;
}

std::size_t element_bytes(const Element& element) {
  std::size_t bytes = 0;
  for (const NamedTensor& input : element.inputs) bytes += input.tensor.data.size;
  return bytes;
}

Status check_memory(const std::vector<ElementStream>& streams, std::int64_t batch_size,
                    std::size_t max_bytes) {
  const auto size = static_cast<std::size_t>(batch_size);
  double bytes = 0;
  for (const ElementStream& stream : streams) {
    if (stream.empty()) continue;
    // The payloads go through the stream until a batch ends with its last element.
    const std::size_t rounds = size / std::gcd(stream.size(), size);
    for (const Element& element : stream) {
      bytes += static_cast<double>(element_bytes(element)) * static_cast<double>(rounds);
    }
  }
  if (bytes <= static_cast<double>(max_bytes)) return {};
  return error::invalid_argument(
      "the requests would take {:.1f} GB of memory and {:.1f} GB are allowed; give fewer entries "
      "or a smaller -b",
      bytes / 1e9, static_cast<double>(max_bytes) / 1e9);
}

Status add_stream(const ElementStream& elements, std::int64_t batch_size, PayloadSet& set) {
  const auto size = static_cast<std::size_t>(batch_size);
  const std::size_t count = elements.size() / std::gcd(elements.size(), size);
  set.streams.push_back({set.payloads.size(), count});
  for (std::size_t i = 0; i < count; ++i) {
    Group group;
    for (std::size_t k = 0; k < size; ++k) {
      group.push_back(&elements[(i * size + k) % elements.size()]);
    }
    Payload payload;
    PROA_ASSIGN(payload.inputs, join_all(group, &Element::inputs, set.model.batches()));
    PROA_ASSIGN(payload.expected, join_all(group, &Element::expected, set.model.batches()));
    set.payloads.push_back(std::move(payload));
  }
  return {};
}

}  // namespace

Tensor tensor_over(DataType type, const Shape& shape, std::string_view bytes) {
  Buffer buffer = Buffer::allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return Tensor{type, shape, BufferView(std::move(buffer))};
}

Status check_batch_size(const ModelSignature& model, std::int64_t batch_size) {
  if (batch_size < 1) return error::invalid_argument("-b {}: wanted 1 or more", batch_size);
  if (!model.batches() && batch_size > 1) {
    return error::invalid_argument(
        "-b {}: model '{}' has no batch dimension (max_batch_size is 0); leave -b out", batch_size,
        model.name);
  }
  if (model.batches() && batch_size > model.max_batch_size) {
    return error::invalid_argument("-b {}: model '{}' takes at most {} inferences a request",
                                   batch_size, model.name, model.max_batch_size);
  }
  return {};
}

Result<PayloadSet> assemble(const ModelSignature& model, std::int64_t batch_size,
                            const std::vector<ElementStream>& streams, std::size_t max_bytes) {
  PROA_TRY(check_memory(streams, batch_size, max_bytes));
  PayloadSet set;
  set.model = model;
  set.batch_size = batch_size;
  for (const ElementStream& stream : streams) {
    if (!stream.empty()) PROA_TRY(add_stream(stream, batch_size, set));
  }
  if (set.payloads.empty()) return error::invalid_argument("there is nothing to send");
  std::unordered_set<std::size_t> contents;
  for (const Payload& payload : set.payloads) contents.insert(content_hash(payload));
  set.distinct = contents.size();
  return set;
}

}  // namespace proa::loadgen
