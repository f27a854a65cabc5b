#include "protocol/classification.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "fmt/format.h"
#include "protocol/typed.h"
#include "tensor/bytes_tensor.h"

namespace proa::protocol {
namespace {

// An element in a form that can be compared.
template <class T>
auto comparable(T value) {
  if constexpr (NumericElement<T>) {
    return value;
  } else {
    return to_float(value);
  }
}

template <class Value>
struct Ranked {
  Value value;
  std::int64_t index;

  // Whether this stands in front of `other`.
  bool before(const Ranked& other) const {
    if constexpr (std::floating_point<Value>) {
      const bool nan = std::isnan(value);
      if (nan != std::isnan(other.value)) return !nan;
      if (nan) return index < other.index;
    }
    return value != other.value ? value > other.value : index < other.index;
  }
};

// The first `count` of a row in rank order.
template <class T>
auto rank_row(const std::byte* row, std::int64_t elements, std::size_t count) {
  using Value = decltype(comparable(T{}));
  const auto before = [](const Ranked<Value>& a, const Ranked<Value>& b) { return a.before(b); };
  std::vector<Ranked<Value>> best;  // a heap with the worst in front
  best.reserve(count);
  for (std::int64_t i = 0; i < elements && count > 0; ++i) {
    T element{};
    std::memcpy(&element, row + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    const Ranked<Value> candidate{comparable(element), i};
    if (best.size() == count) {
      if (!candidate.before(best.front())) continue;
      std::ranges::pop_heap(best, before);
      best.pop_back();
    }
    best.push_back(candidate);
    std::ranges::push_heap(best, before);
  }
  std::ranges::sort_heap(best, before);
  return best;
}

template <class Value>
std::string class_text(const Ranked<Value>& ranked, std::span<const std::string> labels) {
  std::string text;
  if constexpr (std::floating_point<Value>) {
    text = std::isnan(ranked.value) ? fmt::format("nan:{}", ranked.index)
                                    : fmt::format("{:.6f}:{}", ranked.value, ranked.index);
  } else {
    text = fmt::format("{}:{}", +ranked.value, ranked.index);
  }
  const auto index = static_cast<std::size_t>(ranked.index);
  if (index < labels.size() && !labels[index].empty()) text += ':' + labels[index];
  return text;
}

Status check(const Tensor& output, bool batches) {
  if (output.type == DataType::kBytes || output.type == DataType::kInvalid) {
    return error::invalid_argument("an output of type {} cannot be classified: only numbers can",
                                   data_type_name(output.type));
  }
  if (batches && output.shape.empty()) {
    return error::invalid_argument("an output without batch dimension cannot be classified");
  }
  if (!output.shape.element_count()) {
    return error::invalid_argument("an output of shape {} cannot be classified",
                                   output.shape.to_string());
  }
  return {};
}

}  // namespace

Result<Tensor> classify(const Tensor& output, std::uint32_t count,
                        std::span<const std::string> labels, bool batches) {
  PROA_TRY(check(output, batches));
  const std::int64_t batch = batches ? output.shape[0] : 1;
  const std::int64_t elements = batch == 0 ? 0 : *output.shape.element_count() / batch;
  const std::int64_t classes = std::min<std::int64_t>(count, elements);
  if (classes > 0 && batch > kMaxClassifications / classes) {
    return error::invalid_argument("{} classes of {} batch items are more than {} in all", classes,
                                   batch, kMaxClassifications);
  }
  std::string bytes;
  visit_element_type(output.type, [&]<class T>(std::type_identity<T>) {
    const std::size_t row_bytes = static_cast<std::size_t>(elements) * sizeof(T);
    for (std::int64_t row = 0; row < batch; ++row) {
      const std::byte* start = output.data.data() + static_cast<std::size_t>(row) * row_bytes;
      for (const auto& ranked : rank_row<T>(start, elements, static_cast<std::size_t>(classes))) {
        append_bytes_element(bytes, class_text(ranked, labels));
      }
    }
  });
  Buffer buffer = Buffer::allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return Tensor{DataType::kBytes, batches ? Shape{batch, classes} : Shape{classes},
                BufferView(std::move(buffer))};
}

}  // namespace proa::protocol
