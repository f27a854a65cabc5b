// Raw binary requests and BYTES elements. The first byte is the type, the second the rank and
// whether the model batches, then come the extents, one signed byte each; the rest is the body.
#include "base/check.h"
#include "input.h"
#include "protocol/infer_json.h"
#include "tensor/bytes_tensor.h"

namespace {

using namespace proa;

void check_elements(std::span<const std::byte> data) {
  const auto elements = read_bytes_elements(data, 3);
  PROA_CHECK(elements.has_value() == check_bytes_elements(data, 3).has_value(), "both agree");
  if (!elements) return;
  std::string again;
  for (const std::string_view element : *elements) append_bytes_element(again, element);
  PROA_CHECK(
      again.size() == data.size() && std::memcmp(again.data(), data.data(), data.size()) == 0,
      "elements write back as they were");
  PROA_CHECK(bytes_elements_length(data, 3) == data.size(), "their length is that of the tensor");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const auto type = static_cast<DataType>(1 + input.byte() % 14);
  const std::uint8_t form = input.byte();
  Shape shape;
  bool open = false;
  for (int i = 0; i < form % 5; ++i) {
    const auto extent = static_cast<std::int8_t>(input.byte());
    // Of a signature: 1 and more, at most one open.
    if (extent < 0 && open) continue;
    open |= extent < 0;
    shape.push_back(extent < 0 ? Shape::kAny : 1 + extent);
  }
  const std::string_view bytes = input.rest();
  const BufferView body = fuzz::own_block(bytes, false);
  const auto request = protocol::read_raw_infer_request(body, "x", type, shape, (form & 0x80) != 0);
  if (request) {
    const protocol::InferInput& only = request->inputs.front();
    PROA_CHECK(only.data.offset + only.data.size <= only.data.buffer.size(), "data in its block");
    PROA_CHECK(!only.shape.empty() || shape.empty(), "the rank is that of the model");
  }
  check_elements(body.bytes());
  return 0;
}
