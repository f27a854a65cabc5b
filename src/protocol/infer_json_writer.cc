#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "proto/json_text.h"
#include "protocol/infer_json.h"
#include "protocol/typed.h"
#include "tensor/bytes_tensor.h"

namespace proa::protocol {
namespace {

// Room for any number, a comma behind it included: "-2.2250738585072014e-308,".
constexpr std::size_t kMaxNumber = 32;

char* write_word(char* at, std::string_view word) {
  std::memcpy(at, word.data(), word.size());
  return at + word.size();
}

char* write_double(char* at, double value) {
  if (std::isnan(value)) return write_word(at, "NaN");
  if (std::isinf(value)) return write_word(at, value > 0 ? "Infinity" : "-Infinity");
  char* end = std::to_chars(at, at + kMaxNumber, value).ptr;
  // Clients that look at the value for its type must see a float.
  const bool whole = std::find_if(at, end, [](char c) { return c == '.' || c == 'e'; }) == end;
  return whole ? write_word(end, ".0") : end;
}

// Writes the text of a number at `at`, at most kMaxNumber bytes; returns its end.
template <NumericElement T>
char* write_number(char* at, T value) {
  if constexpr (std::same_as<T, bool>) {
    return write_word(at, value ? "true" : "false");
  } else if constexpr (std::floating_point<T>) {
    return write_double(at, value);
  } else {
    return std::to_chars(at, at + kMaxNumber, value).ptr;
  }
}

template <NumericElement T>
void append_number(std::string& out, T value) {
  char text[kMaxNumber];
  out.append(text, write_number(text, value));
}

struct ValueAppender {
  std::string& out;
  void operator()(const std::string& text) const { proto::append_json_string(out, text); }
  template <NumericElement T>
  void operator()(T value) const {
    append_number(out, value);
  }
};

// `"name":{...}` members of a parameters object, without braces.
void append_parameters(std::string& out, const Parameters& parameters) {
  bool first = true;
  for (const Parameter& parameter : parameters) {
    if (!first) out += ',';
    first = false;
    proto::append_json_string(out, parameter.name);
    out += ':';
    std::visit(ValueAppender{out}, parameter.value);
  }
}

void append_shape(std::string& out, const Shape& shape) {
  out += R"(,"shape":[)";
  bool first = true;
  for (const std::int64_t extent : shape) {
    if (!first) out += ',';
    first = false;
    append_number(out, extent);
  }
  out += ']';
}

// Prints `count` elements, a comma behind each.
template <NumericElement T>
char* write_numbers(char* at, const std::byte* data, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    // Read as bytes: the tensor may lie at any address, and a BOOL may be any byte.
    std::conditional_t<std::same_as<T, bool>, std::uint8_t, T> element{};
    std::memcpy(&element, data + i * sizeof(T), sizeof(T));
    at = write_number(at, static_cast<T>(element));
    *at++ = ',';
  }
  return at;
}

template <NumericElement T>
void append_numbers(std::string& out, const BufferView& data) {
  constexpr std::size_t kBlock = 128;  // elements for which room is made at a time
  const std::size_t count = data.size / sizeof(T);
  for (std::size_t done = 0; done < count; done += kBlock) {
    const std::size_t block = std::min(kBlock, count - done);
    const std::size_t before = out.size();
    out.resize_and_overwrite(before + block * kMaxNumber, [&](char* text, std::size_t) {
      const std::byte* first = data.data() + done * sizeof(T);
      return static_cast<std::size_t>(write_numbers<T>(text + before, first, block) - text);
    });
  }
  if (count > 0) out.pop_back();
}

Status append_strings(std::string& out, const Tensor& tensor) {
  const auto count = tensor.shape.element_count();
  PROA_CHECK(count.has_value(), "an output's shape is known");
  PROA_ASSIGN(const auto elements, read_bytes_elements(tensor.data.bytes(), *count));
  bool first = true;
  for (const std::string_view element : elements) {
    if (!first) out += ',';
    first = false;
    proto::append_json_string(out, element);
  }
  return {};
}

Status append_data(std::string& out, const InferOutput& output) {
  const Tensor& tensor = *output.tensor;
  if (tensor.type == DataType::kFp16 || tensor.type == DataType::kBf16) {
    return error::invalid_argument(
        "output '{}' is of type {}, which has no JSON form: ask for binary data (parameter "
        "binary_data)",
        output.name, data_type_name(tensor.type));
  }
  out += R"(,"data":[)";
  if (tensor.type == DataType::kBytes) {
    PROA_TRY(append_strings(out, tensor));
  } else {
    visit_element_type(tensor.type, [&]<class T>(std::type_identity<T>) {
      if constexpr (NumericElement<T>) append_numbers<T>(out, tensor.data);
    });
  }
  out += ']';
  return {};
}

Status append_output(std::string& out, const InferOutput& output) {
  out += R"({"name":)";
  proto::append_json_string(out, output.name);
  out += R"(,"datatype":")";
  out += data_type_name(output.tensor->type);
  out += '"';
  append_shape(out, output.tensor->shape);
  if (output.binary || !output.parameters.empty()) {
    out += R"(,"parameters":{)";
    append_parameters(out, output.parameters);
    if (output.binary) {
      if (!output.parameters.empty()) out += ',';
      out += R"("binary_data_size":)";
      append_number(out, output.tensor->data.size);
    }
    out += '}';
  }
  if (!output.binary) PROA_TRY(append_data(out, output));
  out += '}';
  return {};
}

// About how long the JSON becomes.
std::size_t estimated_size(const InferResponse& response) {
  constexpr std::size_t kPerOutput = 160;
  std::size_t size = 200 + response.outputs.size() * kPerOutput;
  for (const InferOutput& output : response.outputs) {
    if (output.binary) {
      if (output.tensor->data.size < kReferenceFromBytes) size += output.tensor->data.size;
    } else if (const std::size_t element = element_size(output.tensor->type); element > 0) {
      size += output.tensor->data.size / element * (element < 4 ? 6 : 21) + kMaxNumber;
    }
  }
  return size;
}

// Puts the binary outputs behind the JSON, which is the message's first part: small ones into the
// part before, large ones by reference.
void append_binary(const InferResponse& response, EncodedMessage& message) {
  for (const InferOutput& output : response.outputs) {
    const BufferView& data = output.tensor->data;
    if (!output.binary || data.size == 0) continue;
    if (data.size >= kReferenceFromBytes) {
      message.parts.push_back({.bytes = {}, .view = data});
      continue;
    }
    if (message.parts.back().bytes.empty()) message.parts.emplace_back();
    message.parts.back().bytes.append(reinterpret_cast<const char*>(data.data()), data.size);
  }
}

}  // namespace

Result<JsonResponse> write_infer_response_json(const InferResponse& response) {
  std::string json;
  json.reserve(estimated_size(response));
  json += '{';
  if (!response.id.empty()) {
    json += R"("id":)";
    proto::append_json_string(json, response.id);
    json += ',';
  }
  json += R"("model_name":)";
  proto::append_json_string(json, response.model_name);
  json += R"(,"model_version":)";
  proto::append_json_string(json, response.model_version);
  if (!response.parameters.empty()) {
    json += R"(,"parameters":{)";
    append_parameters(json, response.parameters);
    json += '}';
  }
  json += R"(,"outputs":[)";
  JsonResponse result;
  bool first = true;
  for (const InferOutput& output : response.outputs) {
    if (!first) json += ',';
    first = false;
    PROA_TRY(append_output(json, output));
    if (output.binary) result.message.size += output.tensor->data.size;
  }
  json += "]}";
  result.binary = result.message.size > 0;
  result.json_size = json.size();
  result.message.size += json.size();
  result.message.parts.push_back({.bytes = std::move(json), .view = {}});
  append_binary(response, result.message);
  return result;
}

}  // namespace proa::protocol
