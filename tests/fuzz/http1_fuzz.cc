// Heads and chunked bodies of HTTP/1.1. A body is given in pieces of the size that the first byte
// says, as a socket would.
#include <string>

#include "base/check.h"
#include "input.h"
#include "net/http1_parser.h"

namespace {

using namespace proa;

void read_chunks(net::Http1Parser& parser, std::string_view body, std::size_t piece) {
  std::string pending;
  bool last = false;
  while (!last && !body.empty()) {
    pending += body.substr(0, piece);
    body.remove_prefix(std::min(piece, body.size()));
    while (!pending.empty()) {
      const net::Http1Parser::Chunk chunk = parser.next_chunk(pending);
      PROA_CHECK(chunk.used <= pending.size(), "no more is used than there is");
      if (chunk.refusal) return;
      PROA_CHECK(chunk.data.empty() ||
                     (chunk.data.data() >= pending.data() &&
                      chunk.data.data() + chunk.data.size() <= pending.data() + pending.size()),
                 "the data lie inside the input");
      last = chunk.last;
      if (last || chunk.used == 0) break;
      pending.erase(0, chunk.used);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input(data, size);
  const std::size_t piece = 1 + input.byte();
  const std::string_view bytes = input.rest();
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos) return 0;
  std::string head_bytes(bytes.substr(0, end + 4));
  net::Http1Parser parser;
  net::Http1Head head;
  const net::Limits limits;
  if (parser.parse_head(head_bytes, limits, head)) return 0;
  PROA_CHECK(!head.method.empty() && !head.target.empty(), "a request says what it wants");
  PROA_CHECK(!(head.chunked && head.content_length > 0), "a body has one length");
  for (const net::Header& header : head.headers) {
    PROA_CHECK(!header.name.empty(), "headers have names");
    PROA_CHECK(header.value.find_first_of("\r\n") == std::string_view::npos, "and one line");
  }
  if (head.chunked) read_chunks(parser, bytes.substr(end + 4), piece);
  return 0;
}
