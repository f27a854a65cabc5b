#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/exchange.h"
#include "net/http1_response.h"
#include "net/limits.h"

namespace proa::net {

// The head of one HTTP/1.1 request; views point into the bytes it was parsed from.
struct Http1Head {
  std::string_view method;
  std::string_view target;
  std::string_view host;
  std::vector<Header> headers;
  std::string lower_names;  // of the headers that were not written so; what their names point into
  bool http_1_0 = false;
  bool keep_alive = true;
  bool expects_continue = false;
  bool chunked = false;
  std::uint64_t content_length = 0;
};

// Parses one request with Beast's parser: its head at once, then, if the body is chunked, the
// chunks. Strict where two readings of one message could differ (request smuggling): both lengths,
// a length given twice, folded lines, other transfer codings are refused.
// Source: RFC 9112. Threading: confined to one thread.
class Http1Parser {
 public:
  Http1Parser();
  ~Http1Parser();

  // Parses `bytes`, which end with the head's empty line, into `head`, which points into them.
  std::optional<Refusal> parse_head(std::span<char> bytes, const Limits& limits, Http1Head& head);

  struct Chunk {
    std::size_t used = 0;   // bytes of the input that are done with; 0 = more are needed
    std::string_view data;  // a part of the body, inside the input
    bool last = false;      // the body is complete
    std::optional<Refusal> refusal;
  };
  // The next step in a chunked body. Unused bytes must be given again, with more behind them.
  Chunk next_chunk(std::string_view input);

 private:
  class Callbacks;
  struct Slot;
  std::optional<Refusal> check_head(const Limits& limits, const Http1Head& head) const;
  std::unique_ptr<Slot>
      slot_;  // Beast's parser serves one message; this is where the next one goes
};

}  // namespace proa::net
