#include "loadgen/clients/answer.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "proto/grpc_service.pb.h"
#include "protocol/typed.h"
#include "simdjson.h"
#include "tensor/bytes_tensor.h"

namespace proa::loadgen {
namespace {

namespace dom = simdjson::dom;

Error nonsense(std::string_view what) {
  return error::internal("the answer is not KServe v2: {}", what);
}

BufferView copy(std::string_view bytes) {
  Buffer buffer = Buffer::allocate(bytes.size());
  std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return BufferView(std::move(buffer));
}

Status append_element(const dom::element& value, DataType type, std::string& bytes) {
  if (type == DataType::kBytes) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return nonsense("a BYTES element is no string");
    append_bytes_element(bytes, text);
    return {};
  }
  if (type == DataType::kFp16 || type == DataType::kBf16) return nonsense("16-bit floats in JSON");
  double number = 0;
  std::int64_t integer = 0;
  std::uint64_t natural = 0;
  bool truth = false;
  const bool is_integer = value.get(integer) == simdjson::SUCCESS;
  const bool is_natural = !is_integer && value.get(natural) == simdjson::SUCCESS;
  const bool is_bool = value.get(truth) == simdjson::SUCCESS;
  if (!is_integer && !is_natural && !is_bool && value.get(number) != simdjson::SUCCESS) {
    return nonsense("an element is no number");
  }
  return protocol::visit_element_type(type, [&](auto tag) -> Status {
    using Element = typename decltype(tag)::type;
    if constexpr (protocol::NumericElement<Element>) {
      Element element{};
      const bool fits = is_integer   ? protocol::convert_element(integer, element)
                        : is_natural ? protocol::convert_element(natural, element)
                        : is_bool    ? protocol::convert_element(truth, element)
                                     : protocol::convert_element(number, element);
      if (!fits) return nonsense("an element does not fit its type");
      bytes.append(reinterpret_cast<const char*>(&element), sizeof element);
    }
    return {};
  });
}

// Nested or flat.
Status append_elements(const dom::array& data, DataType type, std::string& bytes) {
  for (const dom::element value : data) {
    dom::array nested;
    if (value.get(nested) == simdjson::SUCCESS) {
      PROA_TRY(append_elements(nested, type, bytes));
    } else {
      PROA_TRY(append_element(value, type, bytes));
    }
  }
  return {};
}

Result<NamedTensor> read_head(const dom::element& item) {
  NamedTensor output;
  std::string_view name;
  std::string_view type;
  dom::array shape;
  if (item["name"].get(name) != simdjson::SUCCESS ||
      item["datatype"].get(type) != simdjson::SUCCESS ||
      item["shape"].get(shape) != simdjson::SUCCESS) {
    return nonsense("an output without name, datatype or shape");
  }
  output.name = name;
  const auto known = parse_data_type(type);
  if (!known) return nonsense("an unknown datatype");
  output.tensor.type = *known;
  for (const dom::element extent : shape) {
    std::int64_t value = 0;
    if (extent.get(value) != simdjson::SUCCESS) return nonsense("an extent is no number");
    output.tensor.shape.push_back(value);
  }
  return output;
}

}  // namespace

Result<std::vector<NamedTensor>> read_http_answer(std::string_view body, std::size_t json_size) {
  if (json_size > body.size()) return nonsense("its JSON is longer than the body");
  const std::string_view json = body.substr(0, json_size == 0 ? body.size() : json_size);
  std::string_view binary = body.substr(json.size());
  dom::parser parser;
  dom::element root;
  dom::array items;
  if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS ||
      root["outputs"].get(items) != simdjson::SUCCESS) {
    return nonsense("no outputs");
  }
  std::vector<NamedTensor> outputs;
  for (const dom::element item : items) {
    PROA_ASSIGN(NamedTensor output, read_head(item));
    std::uint64_t size = 0;
    dom::array data;
    if (item["parameters"]["binary_data_size"].get(size) == simdjson::SUCCESS) {
      if (size > binary.size()) return nonsense("binary data are missing");
      output.tensor.data = copy(binary.substr(0, size));
      binary.remove_prefix(size);
    } else if (item["data"].get(data) == simdjson::SUCCESS) {
      std::string bytes;
      PROA_TRY(append_elements(data, output.tensor.type, bytes));
      output.tensor.data = copy(bytes);
    } else {
      return nonsense("an output without data");
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

Result<std::vector<NamedTensor>> read_grpc_answer(std::string_view message) {
  inference::ModelInferResponse response;
  if (!response.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return nonsense("no ModelInferResponse");
  }
  if (response.raw_output_contents_size() != response.outputs_size()) {
    return nonsense("outputs are not in raw_output_contents");
  }
  std::vector<NamedTensor> outputs;
  for (int i = 0; i < response.outputs_size(); ++i) {
    const auto& output = response.outputs(i);
    const auto type = parse_data_type(output.datatype());
    if (!type) return nonsense("an unknown datatype");
    const std::vector<std::int64_t> shape(output.shape().begin(), output.shape().end());
    outputs.push_back(
        {output.name(), Tensor{*type, Shape(shape), copy(response.raw_output_contents(i))}});
  }
  return outputs;
}

std::string http_error_text(std::string_view body) {
  dom::parser parser;
  dom::element root;
  std::string_view text;
  if (parser.parse(body.data(), body.size()).get(root) == simdjson::SUCCESS &&
      root["error"].get(text) == simdjson::SUCCESS) {
    return std::string(text);
  }
  return std::string(body);
}

}  // namespace proa::loadgen
