#include <string>
#include <vector>

#include "base/check.h"
#include "protocol/infer_proto.h"
#include "protocol/wire_writer.h"

namespace proa::protocol {
namespace {

constexpr std::size_t kMaxMessage = INT32_MAX;
constexpr std::size_t kFramePrefix = 5;

// A proto3 field that is left out when empty.
std::size_t text_size(std::string_view text) {
  return text.empty() ? 0 : bytes_field_size(text.size());
}

void write_text(WireWriter& out, std::uint32_t field, std::string_view text) {
  if (!text.empty()) out.bytes_field(field, text);
}

// InferParameter: the size and the bytes of each choice.
struct ValueSize {
  std::size_t operator()(bool) const { return 2; }
  std::size_t operator()(std::int64_t value) const {
    return 1 + varint_size(static_cast<std::uint64_t>(value));
  }
  std::size_t operator()(std::uint64_t value) const { return 1 + varint_size(value); }
  std::size_t operator()(double) const { return 9; }
  std::size_t operator()(const std::string& text) const { return bytes_field_size(text.size()); }
};

struct ValueWriter {
  WireWriter& out;
  void operator()(bool value) const { out.varint_field(1, value ? 1 : 0); }
  void operator()(std::int64_t value) const {
    out.varint_field(2, static_cast<std::uint64_t>(value));
  }
  void operator()(const std::string& text) const { out.bytes_field(3, text); }
  void operator()(double value) const { out.fixed64_field(4, std::bit_cast<std::uint64_t>(value)); }
  void operator()(std::uint64_t value) const { out.varint_field(5, value); }
};

// An entry of map<string, InferParameter>, without its own tag and length.
std::size_t entry_size(const Parameter& parameter) {
  return bytes_field_size(parameter.name.size()) +
         bytes_field_size(std::visit(ValueSize{}, parameter.value));
}

std::size_t parameters_size(const Parameters& parameters) {
  std::size_t size = 0;
  for (const Parameter& parameter : parameters) size += bytes_field_size(entry_size(parameter));
  return size;
}

void write_parameters(WireWriter& out, std::uint32_t field, const Parameters& parameters) {
  for (const Parameter& parameter : parameters) {
    out.open_field(field, entry_size(parameter));
    out.bytes_field(1, parameter.name);
    out.open_field(2, std::visit(ValueSize{}, parameter.value));
    std::visit(ValueWriter{out}, parameter.value);
  }
}

std::size_t extents_size(const Shape& shape) {
  std::size_t size = 0;
  for (const std::int64_t extent : shape) size += varint_size(static_cast<std::uint64_t>(extent));
  return size;
}

// InferOutputTensor, without its own tag and length.
std::size_t output_size(const InferOutput& output) {
  const std::size_t shape =
      output.tensor->shape.empty() ? 0 : bytes_field_size(extents_size(output.tensor->shape));
  return text_size(output.name) + text_size(data_type_name(output.tensor->type)) + shape +
         parameters_size(output.parameters);
}

void write_output(WireWriter& out, const InferOutput& output) {
  const Shape& shape = output.tensor->shape;
  write_text(out, 1, output.name);
  write_text(out, 2, data_type_name(output.tensor->type));
  if (!shape.empty()) {
    out.open_field(3, extents_size(shape));
    for (const std::int64_t extent : shape) out.varint(static_cast<std::uint64_t>(extent));
  }
  write_parameters(out, 4, output.parameters);
}

// ModelInferResponse without raw_output_contents.
std::size_t head_size(const InferResponse& response) {
  std::size_t size = text_size(response.model_name) + text_size(response.model_version) +
                     text_size(response.id) + parameters_size(response.parameters);
  for (const InferOutput& output : response.outputs) size += bytes_field_size(output_size(output));
  return size;
}

void write_head(WireWriter& out, const InferResponse& response) {
  write_text(out, 1, response.model_name);
  write_text(out, 2, response.model_version);
  write_text(out, 3, response.id);
  write_parameters(out, 4, response.parameters);
  for (const InferOutput& output : response.outputs) {
    out.open_field(5, output_size(output));
    write_output(out, output);
  }
}

bool is_referenced(const BufferView& data) { return data.size >= kReferenceFromBytes; }

// gRPC's prefix: not compressed, big-endian length.
void write_frame_prefix(WireWriter& out, std::size_t size) {
  const char prefix[kFramePrefix] = {0, static_cast<char>(size >> 24),
                                     static_cast<char>(size >> 16), static_cast<char>(size >> 8),
                                     static_cast<char>(size)};
  out.raw(prefix, kFramePrefix);
}

// How many bytes of the message the part that starts with output `first` copies: the tags and
// lengths of its tensors, and those tensors that are not referenced. A part ends behind the tag of
// a referenced tensor.
std::size_t copied_size(const InferResponse& response, std::size_t first) {
  std::size_t size = 0;
  for (std::size_t i = first; i < response.outputs.size(); ++i) {
    const BufferView& data = response.outputs[i].tensor->data;
    size += 1 + varint_size(data.size);
    if (is_referenced(data)) break;
    size += data.size;
  }
  return size;
}

// Appends raw_output_contents to the parts. `first_bytes` is written in front, by `write_first`.
template <class WriteFirst>
void append_parts(const InferResponse& response, std::size_t first_bytes, WriteFirst write_first,
                  std::vector<MessagePart>& parts) {
  std::size_t at = 0;
  bool first = true;
  while (first || at < response.outputs.size()) {
    MessagePart part;
    const BufferView* referenced = nullptr;
    const std::size_t size = (first ? first_bytes : 0) + copied_size(response, at);
    part.bytes.resize_and_overwrite(size, [&](char* begin, std::size_t) {
      WireWriter out(begin);
      if (first) write_first(out);
      while (at < response.outputs.size() && referenced == nullptr) {
        const BufferView& data = response.outputs[at++].tensor->data;
        out.open_field(6, data.size);
        if (is_referenced(data)) {
          referenced = &data;
        } else {
          out.raw(data.data(), data.size);
        }
      }
      return static_cast<std::size_t>(out.position() - begin);
    });
    PROA_CHECK(part.bytes.size() == size, "measured and written sizes differ");
    parts.push_back(std::move(part));
    if (referenced != nullptr) parts.push_back({.bytes = {}, .view = *referenced});
    first = false;
  }
}

}  // namespace

Result<EncodedMessage> write_infer_response(const InferResponse& response,
                                            const ProtoWriteOptions& options) {
  const std::size_t head = head_size(response);
  std::size_t body = head;
  std::size_t part_count = 1;
  for (const InferOutput& output : response.outputs) {
    body += bytes_field_size(output.tensor->data.size);
    if (is_referenced(output.tensor->data)) part_count += 2;
  }
  const std::size_t wrapped = options.stream ? bytes_field_size(body) : body;
  if (wrapped > kMaxMessage) {
    return error::internal(
        "the response of model '{}' takes {} bytes, more than a gRPC message may hold ({})",
        response.model_name, wrapped, kMaxMessage);
  }
  const std::size_t frame = options.grpc_frame ? kFramePrefix : 0;
  EncodedMessage message;
  message.parts.reserve(part_count);
  message.size = frame + wrapped;
  append_parts(
      response, frame + (wrapped - body) + head,
      [&](WireWriter& out) {
        if (options.grpc_frame) write_frame_prefix(out, wrapped);
        if (options.stream) out.open_field(2, body);
        write_head(out, response);
      },
      message.parts);
  return message;
}

EncodedMessage write_stream_error(std::string_view text, const InferResponse& response,
                                  bool grpc_frame) {
  const std::size_t head = head_size(response);
  const std::size_t body = text_size(text) + (head == 0 ? 0 : bytes_field_size(head));
  EncodedMessage message;
  message.size = body + (grpc_frame ? kFramePrefix : 0);
  std::string bytes(message.size, '\0');
  WireWriter out(bytes.data());
  if (grpc_frame) write_frame_prefix(out, body);
  write_text(out, 1, text);
  if (head > 0) {
    out.open_field(2, head);
    write_head(out, response);
  }
  message.parts.push_back({.bytes = std::move(bytes), .view = {}});
  return message;
}

}  // namespace proa::protocol
