// Bodies of HTTP infer requests. The first two bytes are the size of the JSON part, 65535 = the
// whole body, which is everything behind them.
#include "base/check.h"
#include "input.h"
#include "protocol/infer_json.h"
#include "tensor/bytes_tensor.h"

namespace {

using namespace proa;

bool inside(std::string_view view, const BufferView& body) {
  const auto* begin = reinterpret_cast<const char*>(body.data());
  return view.empty() || (view.data() >= begin && view.data() + view.size() <= begin + body.size);
}

// Everything that a request says can be read.
void check_request(const protocol::InferRequest& request, const BufferView& body) {
  PROA_CHECK(request.inputs.size() <= protocol::kMaxTensors, "tensors are bounded");
  for (const protocol::InferInput& input : request.inputs) {
    PROA_CHECK(input.data.offset + input.data.size <= input.data.buffer.size(),
               "data in its block");
    std::uint8_t sum = 0;
    for (const std::byte byte : input.data.bytes()) sum ^= static_cast<std::uint8_t>(byte);
    volatile std::uint8_t kept = sum;
    (void)kept;
    const bool own = input.data.buffer.data() != body.buffer.data();
    if (input.type == DataType::kBytes && own) {
      std::int64_t count = 1;
      for (const std::int64_t extent : input.shape) count *= extent;
      PROA_CHECK(check_bytes_elements(input.data.bytes(), count).has_value(), "whole elements");
    }
  }
  std::size_t owned = 0;
  for (const std::string& text : request.owned_strings) owned += text.size();
  PROA_CHECK(owned <= 8 * body.size + 64, "no more strings than the body can hold");
  PROA_CHECK(inside(request.id, body) || owned > 0, "the id is in the body or owned");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static protocol::InferJsonReader reader;  // as in a server: one for many requests
  fuzz::Input input(data, size);
  const std::uint16_t json_size = input.two_bytes();
  const std::string_view bytes = input.rest();
  const BufferView body = fuzz::own_block(bytes, true);
  const std::size_t used = json_size == 0xffff ? bytes.size() : json_size;
  // A header that promises more than there is gets its error before the reader is asked.
  if (used > bytes.size()) return 0;
  const Result<protocol::InferRequest> request = reader.read(body, used);
  PROA_CHECK(std::string_view(reinterpret_cast<const char*>(body.data()), body.size) == bytes,
             "the body is as it came");
  if (request) check_request(*request, body);
  PROA_CHECK(request || !request.error().message.empty(), "an error says something");
  return 0;
}
