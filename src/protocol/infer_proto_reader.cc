#include <cstring>
#include <optional>
#include <vector>

#include "fmt/format.h"
#include "proto/json_text.h"
#include "protocol/infer_proto.h"
#include "protocol/parameters.h"
#include "protocol/typed_contents.h"
#include "protocol/wire_reader.h"

namespace proa::protocol {
namespace {

constexpr std::uint32_t text_tag(std::uint32_t field) { return wire_tag(field, WireType::kBytes); }

// protobuf refuses strings that are not UTF-8. Names are short and ASCII, nearly always.
bool is_utf8(std::string_view text) {
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    if ((word & 0x8080808080808080U) != 0) return proto::valid_utf8_prefix(text) == text.size();
  }
  for (; at < text.size(); ++at) {
    if ((text[at] & 0x80) != 0) return proto::valid_utf8_prefix(text) == text.size();
  }
  return true;
}

// Reads one message. The parse functions return false on failure and leave the reason in error_.
class Reader {
 public:
  Reader(const BufferView& message, std::size_t max_decoded_bytes)
      : message_(message),
        max_decoded_bytes_(max_decoded_bytes),
        start_(reinterpret_cast<const char*>(message.data())) {}

  Result<InferRequest> read() {
    if (!parse_request(WireReader({start_, message_.size})) || !match_contents()) {
      return std::move(*error_);
    }
    return std::move(request_);
  }

 private:
  // What came in the contents field of an input.
  struct Contents {
    std::size_t input;
    std::string_view bytes;
  };

  bool fail(Error error) {
    error_ = std::move(error);
    return false;
  }

  // Malformed bytes where `in` stands.
  bool fail_at(const WireReader& in, std::string_view where) {
    return fail(error::invalid_argument(
        "not a valid ModelInferRequest: malformed protobuf in {} at byte {} of {}", where,
        in.position() - start_, message_.size));
  }

  bool read_text(WireReader& in, std::string_view& text, std::string_view where) {
    if (!in.read_bytes(text)) return fail_at(in, where);
    if (is_utf8(text)) return true;
    return fail(error::invalid_argument("not a valid ModelInferRequest: {} at byte {} is not UTF-8",
                                        where, text.data() - start_));
  }

  bool parse_request(WireReader in) {
    while (!in.done()) {
      std::uint32_t tag = 0;
      std::string_view bytes;
      if (!in.read_tag(tag)) return fail_at(in, "the request");
      switch (tag) {
        case text_tag(1):
          if (!read_text(in, request_.model_name, "model_name")) return false;
          break;
        case text_tag(2):
          if (!read_text(in, request_.model_version, "model_version")) return false;
          break;
        case text_tag(3):
          if (!read_text(in, request_.id, "id")) return false;
          break;
        case text_tag(4):
          if (!in.read_bytes(bytes)) return fail_at(in, "parameters");
          if (!parse_parameter(WireReader(bytes), "parameters", request_)) return false;
          break;
        case text_tag(5):
          if (!in.read_bytes(bytes)) return fail_at(in, "inputs");
          if (!parse_input(WireReader(bytes))) return false;
          break;
        case text_tag(6):
          if (!in.read_bytes(bytes)) return fail_at(in, "outputs");
          if (!parse_output(WireReader(bytes))) return false;
          break;
        case text_tag(7):
          if (!in.read_bytes(bytes)) return fail_at(in, "raw_input_contents");
          if (!add_raw(bytes)) return false;
          break;
        default:
          if (!in.skip(tag)) return fail_at(in, "an unknown field");
      }
    }
    return true;
  }

  bool parse_input(WireReader in) {
    if (request_.inputs.size() == kMaxTensors) return fail(too_many_tensors());
    InferInput& input = request_.inputs.emplace_back();
    while (!in.done()) {
      std::uint32_t tag = 0;
      std::string_view bytes;
      if (!in.read_tag(tag)) return fail_at(in, "inputs");
      switch (tag) {
        case text_tag(1):
          if (!read_text(in, input.name, "inputs.name")) return false;
          break;
        case text_tag(2):
          if (!read_text(in, input.datatype, "inputs.datatype")) return false;
          break;
        case wire_tag(3, WireType::kVarint):
          if (!parse_extent(in, input.shape)) return false;
          break;
        case text_tag(3):
          if (!in.read_bytes(bytes)) return fail_at(in, "inputs.shape");
          for (WireReader extents(bytes); !extents.done();) {
            if (!parse_extent(extents, input.shape)) return false;
          }
          break;
        case text_tag(4):
          if (!in.read_bytes(bytes)) return fail_at(in, "inputs.parameters");
          if (!parse_parameter(WireReader(bytes), "inputs.parameters", input)) return false;
          break;
        case text_tag(5):
          if (!in.read_bytes(bytes)) return fail_at(in, "inputs.contents");
          contents_.push_back({request_.inputs.size() - 1, bytes});
          break;
        default:
          if (!in.skip(tag)) return fail_at(in, "inputs, an unknown field");
      }
    }
    input.type = parse_data_type(input.datatype).value_or(DataType::kInvalid);
    return true;
  }

  bool parse_extent(WireReader& in, Shape& shape) {
    std::uint64_t extent = 0;
    if (!in.read_varint(extent)) return fail_at(in, "inputs.shape");
    if (shape.rank() == kMaxRank) {
      return fail(error::invalid_argument("input {} has more than {} dimensions",
                                          request_.inputs.size() - 1, kMaxRank));
    }
    shape.push_back(static_cast<std::int64_t>(extent));
    return true;
  }

  bool parse_output(WireReader in) {
    if (request_.outputs.size() == kMaxTensors) return fail(too_many_tensors());
    InferRequestedOutput& output = request_.outputs.emplace_back();
    while (!in.done()) {
      std::uint32_t tag = 0;
      std::string_view bytes;
      if (!in.read_tag(tag)) return fail_at(in, "outputs");
      switch (tag) {
        case text_tag(1):
          if (!read_text(in, output.name, "outputs.name")) return false;
          break;
        case text_tag(2):
          if (!in.read_bytes(bytes)) return fail_at(in, "outputs.parameters");
          if (!parse_parameter(WireReader(bytes), "outputs.parameters", output)) return false;
          break;
        default:
          if (!in.skip(tag)) return fail_at(in, "outputs, an unknown field");
      }
    }
    return true;
  }

  static Status set_parameter(InferRequest& to, std::string_view name, Parameter::Value value) {
    return set_request_parameter(to, name, std::move(value));
  }
  static Status set_parameter(InferInput& to, std::string_view name, Parameter::Value value) {
    const Status status = set_input_parameter(to, name, std::move(value));
    if (status) return {};
    return with_context(fmt::format("input '{}'", to.name), status.error());
  }
  static Status set_parameter(InferRequestedOutput& to, std::string_view name,
                              Parameter::Value value) {
    return set_output_parameter(to, name, std::move(value));
  }

  // An entry of a map<string, InferParameter>.
  template <class Target>
  bool parse_parameter(WireReader in, std::string_view where, Target& target) {
    if (++parameter_count_ > kMaxParameters) return fail(too_many_parameters());
    std::string_view name;
    std::optional<Parameter::Value> value;
    while (!in.done()) {
      std::uint32_t tag = 0;
      std::string_view bytes;
      if (!in.read_tag(tag)) return fail_at(in, where);
      if (tag == text_tag(1)) {
        if (!read_text(in, name, where)) return false;
      } else if (tag == text_tag(2)) {
        if (!in.read_bytes(bytes)) return fail_at(in, where);
        if (!parse_parameter_value(WireReader(bytes), where, value)) return false;
      } else if (!in.skip(tag)) {
        return fail_at(in, where);
      }
    }
    if (!value) {
      return fail(error::invalid_argument("parameter '{}' has no value", name));
    }
    Status status = set_parameter(target, name, *std::move(value));
    return status || fail(std::move(status).error());
  }

  bool parse_parameter_value(WireReader in, std::string_view where,
                             std::optional<Parameter::Value>& value) {
    while (!in.done()) {
      std::uint32_t tag = 0;
      std::uint64_t number = 0;
      std::string_view text;
      if (!in.read_tag(tag)) return fail_at(in, where);
      switch (tag) {
        case wire_tag(1, WireType::kVarint):
          if (!in.read_varint(number)) return fail_at(in, where);
          value = number != 0;
          break;
        case wire_tag(2, WireType::kVarint):
          if (!in.read_varint(number)) return fail_at(in, where);
          value = static_cast<std::int64_t>(number);
          break;
        case text_tag(3):
          if (!read_text(in, text, where)) return false;
          value = std::string(text);
          break;
        case wire_tag(4, WireType::kFixed64):
          if (!in.read_fixed64(number)) return fail_at(in, where);
          value = std::bit_cast<double>(number);
          break;
        case wire_tag(5, WireType::kVarint):
          if (!in.read_varint(number)) return fail_at(in, where);
          value = number;
          break;
        default:
          if (!in.skip(tag)) return fail_at(in, where);
      }
    }
    return true;
  }

  bool add_raw(std::string_view bytes) {
    if (raw_count_ == kMaxTensors) return fail(too_many_tensors());
    const BufferView view = message_.sub(bytes.data() - start_, bytes.size());
    // The n-th raw content belongs to the n-th input, which normally stands in front of it.
    if (raw_count_ < request_.inputs.size() && early_raw_.empty()) {
      request_.inputs[raw_count_].data = view;
    } else {
      early_raw_.push_back(view);
    }
    ++raw_count_;
    return true;
  }

  // Gives raw or typed contents to the inputs that lack them.
  bool match_contents() {
    if (raw_count_ > 0) {
      if (!contents_.empty()) {
        return fail(error::invalid_argument(
            "input '{}' has contents although raw_input_contents are given: send either, for all "
            "inputs",
            request_.inputs[contents_.front().input].name));
      }
      if (raw_count_ != request_.inputs.size()) {
        return fail(error::invalid_argument(
            "expected one element of raw_input_contents per input, got {} for {} inputs",
            raw_count_, request_.inputs.size()));
      }
      const std::size_t first = raw_count_ - early_raw_.size();
      for (std::size_t i = 0; i < early_raw_.size(); ++i) {
        request_.inputs[first + i].data = std::move(early_raw_[i]);
      }
      return true;
    }
    return read_contents();
  }

  bool read_contents() {
    std::vector<std::string_view> parts;
    for (std::size_t i = 0; i < contents_.size();) {
      InferInput& input = request_.inputs[contents_[i].input];
      parts.clear();
      const std::size_t index = contents_[i].input;
      for (; i < contents_.size() && contents_[i].input == index; ++i) {
        parts.push_back(contents_[i].bytes);
      }
      Result<BufferView> data =
          read_typed_contents(parts, input.type, max_decoded_bytes_ - request_.decoded_bytes);
      if (!data) {
        return fail(with_context(fmt::format("input '{}'", input.name), std::move(data).error()));
      }
      input.data = *std::move(data);
      request_.decoded_bytes += input.data.size;
    }
    return true;
  }

  static constexpr std::size_t kMaxRank = 64;

  const BufferView& message_;
  const std::size_t max_decoded_bytes_;
  const char* start_;
  InferRequest request_;
  std::vector<Contents> contents_;     // in the order of inputs
  std::vector<BufferView> early_raw_;  // raw contents that came before their inputs
  std::size_t raw_count_ = 0;
  std::size_t parameter_count_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<InferRequest> read_infer_request(const BufferView& message, std::size_t max_decoded_bytes) {
  return Reader(message, max_decoded_bytes).read();
}

}  // namespace proa::protocol
