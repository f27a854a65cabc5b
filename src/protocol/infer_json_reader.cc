#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "boost/container/small_vector.hpp"
#include "fmt/format.h"
#include "protocol/infer_json.h"
#include "protocol/json_data.h"
#include "protocol/json_source.h"
#include "protocol/parameters.h"
#include "simdjson.h"
#include "tensor/tensor.h"

namespace proa::protocol {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(MemoryPool::kTailPadding >= simdjson::SIMDJSON_PADDING);

constexpr std::size_t kSmallestParser = 16 << 10;
// A parser that has read a larger text gives its memory back.
constexpr std::size_t kLargestKeptParser = 1 << 20;

Status open(ondemand::parser& parser, std::string_view text, std::size_t padding,
            ondemand::document& document) {
  if (parser.capacity() < text.size()) {
    const std::size_t wanted = std::bit_ceil(std::max(text.size(), kSmallestParser));
    if (parser.allocate(std::min<std::size_t>(wanted, simdjson::SIMDJSON_MAXSIZE_BYTES))) {
      return error::resource_exhausted("a request of {} bytes of JSON is too large", text.size());
    }
  }
  const simdjson::padded_string_view padded(text.data(), text.size(), text.size() + padding);
  const JsonSource source(text, nullptr);
  if (const auto code = parser.iterate(padded).get(document)) return source.syntax_error(code);
  return {};
}

// Puts a blank behind a JSON text while it is parsed, and what was there back afterwards. The
// parser looks at that byte when a text ends too early, and would walk on at a comma or bracket.
class BlankBehind {
 public:
  explicit BlankBehind(std::string_view text)
      : byte_(const_cast<char&>(*(text.data() + text.size()))), saved_(byte_) {
    byte_ = ' ';
  }
  ~BlankBehind() { byte_ = saved_; }
  BlankBehind(const BlankBehind&) = delete;
  BlankBehind& operator=(const BlankBehind&) = delete;

 private:
  char& byte_;
  char saved_;
};

// The text behind a byte order mark, which some editors and clients put in front of UTF-8.
std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

// An input as far as its JSON object tells.
struct PendingInput {
  std::size_t index = 0;        // among the request's inputs
  std::string_view early_data;  // `data` that stood in front of shape or datatype
  std::optional<std::uint64_t> binary_size;
  bool has_data = false;
  bool has_shape = false;
};

// Reads one request.
class RequestReader {
 public:
  RequestReader(ondemand::parser& parser, ondemand::parser& data_parser, const BufferView& body,
                std::size_t json_size)
      : parser_(parser),
        data_parser_(data_parser),
        body_(body),
        source_(without_mark({reinterpret_cast<const char*>(body.data()), json_size}), nullptr) {}

  Result<InferRequest> read() {
    const BlankBehind blank(source_.text());
    ondemand::document document;
    PROA_TRY(open(parser_, source_.text(), tail_behind(source_.text()), document));
    source_ = JsonSource(source_.text(), &document);
    ondemand::object root;
    if (const auto code = document.get_object().get(root)) {
      if (code != simdjson::INCORRECT_TYPE) return source_.syntax_error(code);
      return source_.error_at(source_.text().data(),
                              "failed to parse the request JSON buffer: it must be a JSON object");
    }
    PROA_TRY(read_members(root));
    const char* rest = nullptr;
    if (document.current_location().get(rest) == simdjson::SUCCESS) {
      return source_.error_at(rest,
                              "failed to parse the request JSON buffer: something follows the JSON "
                              "object; is Inference-Header-Content-Length right?");
    }
    PROA_TRY(assign_binary_data());
    return std::move(request_);
  }

 private:
  // Bytes that may be read behind `text`, which lies in the body.
  std::size_t tail_behind(std::string_view text) const {
    const char* end = reinterpret_cast<const char*>(body_.data()) + body_.size;
    return static_cast<std::size_t>(end - (text.data() + text.size())) + MemoryPool::kTailPadding;
  }

  Status read_members(ondemand::object& root) {
    bool has_inputs = false;
    PROA_TRY(
        source_.for_each_member(root, [&](std::string_view key, ondemand::value& value) -> Status {
          if (key == "id") return read_text(value, key, request_.id);
          if (key == "parameters") return read_parameters(value, request_);
          if (key == "outputs") {
            return source_.for_each_item(value, key,
                                         [&](ondemand::value& v) { return read_output(v); });
          }
          if (key != "inputs") return source_.skip(value, kMaxDepth - 1);
          has_inputs = true;
          return source_.for_each_item(value, key,
                                       [&](ondemand::value& v) { return read_input(v); });
        }));
    if (!has_inputs) return error::invalid_argument("the request has no member 'inputs'");
    return {};
  }

  // A view of the body when the string has no escapes, otherwise of a string of the request's own.
  Status read_text(ondemand::value& value, std::string_view what, std::string_view& text) {
    const std::string_view token = source_.token(value);
    if (!token.starts_with('"')) return source_.wanted(value, what, "a string");
    if (token.size() >= 2 && token.find('\\') == std::string_view::npos) {
      text = token.substr(1, token.size() - 2);
      return {};
    }
    std::string_view unescaped;
    if (const auto code = value.get_string().get(unescaped)) return source_.syntax_error(code);
    text = request_.owned_strings.emplace_front(unescaped);
    return {};
  }

  Status read_parameter_value(ondemand::value& value, std::string_view name,
                              Parameter::Value& out) {
    ondemand::json_type type{};
    if (const auto code = value.type().get(type)) return source_.syntax_error(code);
    if (type == ondemand::json_type::boolean) {
      bool flag = false;
      if (const auto code = value.get_bool().get(flag)) return source_.syntax_error(code);
      out = flag;
      return {};
    }
    if (type == ondemand::json_type::string) {
      std::string_view text;
      if (const auto code = value.get_string().get(text)) return source_.syntax_error(code);
      out = std::string(text);
      return {};
    }
    ondemand::number number;
    if (type != ondemand::json_type::number || value.get_number().get(number)) {
      return source_.wanted(value, name, "a boolean, number or string");
    }
    if (number.is_int64()) {
      out = number.get_int64();
    } else if (number.is_uint64()) {
      out = number.get_uint64();
    } else {
      out = number.get_double();
    }
    return {};
  }

  static Status set_parameter(InferRequest& to, std::string_view name, Parameter::Value value) {
    // The one that means something does so on gRPC streams only.
    if (name.starts_with(kReservedPrefix)) return reserved_name(name);
    return set_request_parameter(to, name, std::move(value));
  }
  static Status set_parameter(InferInput& to, std::string_view name, Parameter::Value value) {
    return set_input_parameter(to, name, std::move(value));
  }
  static Status set_parameter(InferRequestedOutput& to, std::string_view name,
                              Parameter::Value value) {
    return set_output_parameter(to, name, std::move(value));
  }

  template <class Target>
  Status read_parameters(ondemand::value& value, Target& target) {
    return read_parameters(value, [&](std::string_view name, Parameter::Value parameter) {
      return set_parameter(target, name, std::move(parameter));
    });
  }

  template <class Set>
    requires std::invocable<Set, std::string_view, Parameter::Value>
  Status read_parameters(ondemand::value& value, Set set) {
    ondemand::object object;
    if (value.get_object().get(object)) return source_.wanted(value, "parameters", "an object");
    const auto read_one = [&](std::string_view name, ondemand::value& member) -> Status {
      if (++parameter_count_ > kMaxParameters) return too_many_parameters();
      Parameter::Value parameter;
      PROA_TRY(read_parameter_value(member, name, parameter));
      return set(name, std::move(parameter));
    };
    return source_.for_each_member(object, read_one, kMaxParameters + 1);
  }

  Status read_output(ondemand::value& value) {
    if (request_.outputs.size() == kMaxTensors) return too_many_tensors();
    ondemand::object object;
    if (value.get_object().get(object))
      return source_.wanted(value, "outputs", "an array of objects");
    InferRequestedOutput& output = request_.outputs.emplace_back();
    PROA_TRY(source_.for_each_member(object,
                                     [&](std::string_view key, ondemand::value& member) -> Status {
                                       if (key == "name")
                                         return read_text(member, key, output.name);
                                       if (key == "parameters")
                                         return read_parameters(member, output);
                                       return source_.skip(member, kMaxDepth - 3);
                                     }));
    if (output.name.empty()) {
      return error::invalid_argument("outputs[{}] has no name", request_.outputs.size() - 1);
    }
    return {};
  }

  Status read_input(ondemand::value& value) {
    if (request_.inputs.size() == kMaxTensors) return too_many_tensors();
    ondemand::object object;
    if (value.get_object().get(object))
      return source_.wanted(value, "inputs", "an array of objects");
    PendingInput pending{.index = request_.inputs.size()};
    InferInput& input = request_.inputs.emplace_back();
    Status status =
        source_.for_each_member(object, [&](std::string_view key, ondemand::value& member) {
          return read_input_member(key, member, input, pending);
        });
    if (status) status = finish_input(input, pending);
    if (status) return {};
    return with_context(input.name.empty() ? fmt::format("inputs[{}]", pending.index)
                                           : fmt::format("input '{}'", input.name),
                        std::move(status).error());
  }

  Status read_input_member(std::string_view key, ondemand::value& member, InferInput& input,
                           PendingInput& pending) {
    if (key == "name") return read_text(member, key, input.name);
    if (key == "datatype") {
      PROA_TRY(read_text(member, key, input.datatype));
      input.type = parse_data_type(input.datatype).value_or(DataType::kInvalid);
      return {};
    }
    if (key == "shape") {
      pending.has_shape = true;
      return source_.for_each_item(member, key, [&](ondemand::value& extent) -> Status {
        std::int64_t number = 0;
        if (extent.get_int64().get(number))
          return source_.wanted(extent, "shape", "an array of integers");
        input.shape.push_back(number);
        return {};
      });
    }
    if (key == "parameters") {
      return read_parameters(member, [&](std::string_view name, Parameter::Value parameter) {
        return set_json_input_parameter(input, pending, name, std::move(parameter));
      });
    }
    if (key == "data") return read_data(member, input, pending);
    return source_.skip(member, kMaxDepth - 3);
  }

  static Status set_json_input_parameter(InferInput& input, PendingInput& pending,
                                         std::string_view name, Parameter::Value parameter) {
    if (name != "binary_data_size") {
      return set_input_parameter(input, name, std::move(parameter));
    }
    const auto* size = std::get_if<std::int64_t>(&parameter);
    if (size == nullptr || *size < 0) {
      return error::invalid_argument("'binary_data_size' must be a number of bytes");
    }
    pending.binary_size = static_cast<std::uint64_t>(*size);
    return {};
  }

  Status read_data(ondemand::value& member, InferInput& input, PendingInput& pending) {
    ondemand::array array;
    if (member.get_array().get(array)) return source_.wanted(member, "data", "an array");
    pending.has_data = true;
    if (pending.has_shape && input.type != DataType::kInvalid) {
      return read_array(source_, array, input);
    }
    if (const auto code = array.raw_json().get(pending.early_data)) {
      return source_.syntax_error(code);
    }
    return {};
  }

  Status read_array(const JsonSource& source, ondemand::array& array, InferInput& input) {
    // The array stands within the request, "inputs" and the input.
    PROA_ASSIGN(input.data, read_json_data(source, array, input.type, input.shape, kMaxDepth - 3));
    request_.decoded_bytes += input.data.size;
    return {};
  }

  // `data` that could not be read where it stood.
  Status read_early_data(std::string_view text, InferInput& input) {
    const BlankBehind blank(text);
    ondemand::document document;
    PROA_TRY(open(data_parser_, text, tail_behind(text), document));
    ondemand::array array;
    const JsonSource source(source_.text(), &document);
    if (const auto code = document.get_array().get(array)) return source.syntax_error(code);
    return read_array(source, array, input);
  }

  Status finish_input(InferInput& input, PendingInput& pending) {
    if (input.name.empty()) return error::invalid_argument("has no 'name'");
    if (input.datatype.empty()) return error::invalid_argument("has no 'datatype'");
    if (!pending.has_shape) return error::invalid_argument("has no 'shape'");
    if (pending.has_data == pending.binary_size.has_value()) {
      return error::invalid_argument(
          "needs either 'data' or the parameter 'binary_data_size', got {}",
          pending.has_data ? "both" : "neither");
    }
    if (pending.has_data) {
      if (input.type == DataType::kInvalid) {
        return error::invalid_argument("unknown datatype '{}'", input.datatype);
      }
      if (!pending.early_data.empty()) return read_early_data(pending.early_data, input);
    } else {
      binary_inputs_.push_back({pending.index, *pending.binary_size});
    }
    return {};
  }

  // Cuts what follows the JSON into the binary inputs, in order.
  Status assign_binary_data() {
    std::size_t at = static_cast<std::size_t>(source_.text().data() + source_.text().size() -
                                              reinterpret_cast<const char*>(body_.data()));
    for (const auto& [index, size] : binary_inputs_) {
      InferInput& input = request_.inputs[index];
      if (size > body_.size - at) {
        return error::invalid_argument(
            "input '{}' announces {} bytes of binary data but only {} follow: the body is cut "
            "short, or Inference-Header-Content-Length is missing or wrong",
            input.name, size, body_.size - at);
      }
      input.data = body_.sub(at, size);
      at += size;
    }
    if (at == body_.size) return {};
    return error::invalid_argument(
        "{} bytes of the body belong to no input: their "
        "binary_data_size must sum to what follows the JSON",
        body_.size - at);
  }

  static constexpr int kMaxDepth = InferJsonReader::kMaxDepth;

  ondemand::parser& parser_;
  ondemand::parser& data_parser_;
  const BufferView& body_;
  JsonSource source_;
  InferRequest request_;
  struct BinaryInput {
    std::size_t index;
    std::uint64_t size;
  };
  boost::container::small_vector<BinaryInput, 4> binary_inputs_;
  std::size_t parameter_count_ = 0;
};

}  // namespace

struct InferJsonReader::Parser {
  ondemand::parser request;
  ondemand::parser data;  // for `data` that comes before its shape or datatype

  void give_back() {
    if (request.capacity() > kLargestKeptParser) request = ondemand::parser();
    if (data.capacity() > kLargestKeptParser) data = ondemand::parser();
  }
};

InferJsonReader::InferJsonReader() : parser_(std::make_unique<Parser>()) {}
InferJsonReader::~InferJsonReader() = default;

Result<InferRequest> InferJsonReader::read(const BufferView& body, std::size_t json_size) {
  if (json_size > body.size) {
    return error::invalid_argument(
        "Inference-Header-Content-Length is {} but the body has only {} bytes", json_size,
        body.size);
  }
  if (json_size == 0) {
    return error::invalid_argument("the body is empty: an infer request must be a JSON object");
  }
  Result<InferRequest> request =
      RequestReader(parser_->request, parser_->data, body, json_size).read();
  parser_->give_back();
  return request;
}

}  // namespace proa::protocol
