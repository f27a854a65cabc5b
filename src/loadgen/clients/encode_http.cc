#include "loadgen/clients/encode_http.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "fmt/format.h"
#include "proto/json_text.h"
#include "protocol/model_path.h"
#include "protocol/typed.h"
#include "tensor/bytes_tensor.h"

namespace proa::loadgen {
namespace {

void append_number(std::string& json, double value) {
  if (std::isnan(value)) {
    json += "NaN";
  } else if (std::isinf(value)) {
    json += value > 0 ? "Infinity" : "-Infinity";
  } else {
    fmt::format_to(std::back_inserter(json), "{}", value);
  }
}

template <class Element>
void append_element(std::string& json, Element element) {
  if constexpr (std::is_same_v<Element, bool>) {
    json += element ? "true" : "false";
  } else if constexpr (std::is_integral_v<Element>) {
    fmt::format_to(std::back_inserter(json), "{}", element);
  } else if constexpr (std::is_same_v<Element, float>) {
    if (std::isfinite(element)) {
      fmt::format_to(std::back_inserter(json), "{}", element);
    } else {
      append_number(json, element);
    }
  } else if constexpr (std::is_same_v<Element, double>) {
    append_number(json, element);
  }
}

Status append_bytes(std::string& json, const NamedTensor& input) {
  PROA_ASSIGN(const auto elements,
              read_bytes_elements(input.tensor.data.bytes(),
                                  input.tensor.shape.element_count().value_or(-1)));
  for (const std::string_view element : elements) {
    proto::append_json_string(json, element);
    json += ',';
  }
  return {};
}

// ,"data":[...]
Status append_data(std::string& json, const NamedTensor& input) {
  const Tensor& tensor = input.tensor;
  json += R"(,"data":[)";
  if (tensor.type == DataType::kBytes) {
    PROA_TRY(append_bytes(json, input));
  } else if (tensor.type == DataType::kFp16 || tensor.type == DataType::kBf16) {
    return error::invalid_argument(
        "input '{}' is {}, which JSON cannot carry; leave --input-tensor-format at binary",
        input.name, data_type_name(tensor.type));
  } else {
    protocol::visit_element_type(tensor.type, [&](auto type) {
      using Element = typename decltype(type)::type;
      const auto bytes = tensor.data.bytes();
      for (std::size_t at = 0; at + sizeof(Element) <= bytes.size(); at += sizeof(Element)) {
        Element element;
        std::memcpy(&element, bytes.data() + at, sizeof element);
        append_element(json, element);
        json += ',';
      }
    });
  }
  if (json.back() == ',') json.pop_back();
  json += ']';
  return {};
}

Status append_input(std::string& json, const NamedTensor& input, TensorFormat format) {
  json += R"({"name":)";
  proto::append_json_string(json, input.name);
  json += fmt::format(R"(,"datatype":"{}","shape":{})", data_type_name(input.tensor.type),
                      input.tensor.shape.to_string());
  if (format == TensorFormat::kJson) {
    PROA_TRY(append_data(json, input));
  } else {
    json += fmt::format(R"(,"parameters":{{"binary_data_size":{}}})", input.tensor.data.size);
  }
  json += '}';
  return {};
}

void append_parameter(std::string& json, const Parameter& parameter) {
  proto::append_json_string(json, parameter.name);
  json += ':';
  std::visit(
      [&](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::string>) {
          proto::append_json_string(json, value);
        } else {
          append_element(json, value);
        }
      },
      parameter.value);
}

std::string sequence_parameters(const SequencePlace& place) {
  return fmt::format(R"("sequence_id":{},"sequence_start":{},"sequence_end":{})", place.id,
                     place.start, place.end);
}

}  // namespace

Result<HttpRequest> HttpRequest::make(const ModelSignature& model, const Payload& payload,
                                      const HttpEncoding& encoding) {
  HttpRequest request;
  request.head_ = fmt::format("POST {}{}/infer HTTP/1.1\r\nHost: {}\r\n", encoding.prefix,
                              protocol::model_path(model.name, model.version), encoding.authority);
  for (const std::string& header : encoding.headers) request.head_ += header + "\r\n";
  std::string& front = request.json_front_;
  front = R"({"parameters":{)";
  if (encoding.output == TensorFormat::kBinary) front += R"("binary_data_output":true)";
  for (const Parameter& parameter : payload.parameters) {
    if (front.back() != '{') front += ',';
    append_parameter(front, parameter);
  }
  request.has_parameters_ = front.back() != '{';
  std::string& back = request.json_back_;
  back = R"(},"inputs":[)";
  for (const NamedTensor& input : payload.inputs) {
    if (back.back() == '}') back += ',';
    PROA_TRY(append_input(back, input, encoding.input));
    if (encoding.input == TensorFormat::kBinary) {
      request.binary_.append(reinterpret_cast<const char*>(input.tensor.data.data()),
                             input.tensor.data.size);
    }
  }
  back += "]}";
  request.whole_ = request.compose("");
  return request;
}

std::string HttpRequest::bytes(const SequencePlace& sequence) const {
  return compose(sequence_parameters(sequence));
}

std::string HttpRequest::compose(std::string_view sequence_parameters) const {
  const bool comma = has_parameters_ && !sequence_parameters.empty();
  const std::size_t json_size =
      json_front_.size() + (comma ? 1 : 0) + sequence_parameters.size() + json_back_.size();
  std::string bytes;
  bytes.reserve(head_.size() + json_size + binary_.size() + 160);
  bytes += head_;
  if (binary_.empty()) {
    bytes += "Content-Type: application/json\r\n";
  } else {
    fmt::format_to(std::back_inserter(bytes),
                   "Content-Type: application/octet-stream\r\n"
                   "Inference-Header-Content-Length: {}\r\n",
                   json_size);
  }
  fmt::format_to(std::back_inserter(bytes), "Content-Length: {}\r\n\r\n",
                 json_size + binary_.size());
  bytes += json_front_;
  if (comma) bytes += ',';
  bytes += sequence_parameters;
  bytes += json_back_;
  bytes += binary_;
  return bytes;
}

}  // namespace proa::loadgen
