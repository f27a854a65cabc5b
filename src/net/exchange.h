#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/buffer.h"

namespace proa::net {

class EventLoop;

struct Header {
  std::string_view name;  // lower case
  std::string_view value;
};

// What a client asked, whatever the HTTP version. Views live until the handler's on_end() returns;
// copy what is needed later.
struct RequestHead {
  std::string_view method;     // "GET"
  std::string_view target;     // "/v2/models/a/infer?x=1", percent-encoded as it came
  std::string_view authority;  // Host or :authority
  std::span<const Header> headers;
  int http_major = 1;
  // Bytes of the body as announced; -1 = not announced (chunked, HTTP/2 without content-length).
  std::int64_t content_length = -1;

  // The first header of that (lower case) name; empty when absent.
  std::string_view header(std::string_view name) const;
};

enum class CloseReason : std::uint8_t {
  kFinished,     // the response was handed to the socket, whole
  kClientReset,  // RST_STREAM or the connection is gone
  kServerAbort,  // a limit was passed, the server is stopping, or the handler called reset()
};

// A part of a response body: bytes of its own, or a view that keeps a buffer alive (sent without a
// copy).
struct Segment {
  std::string bytes;
  BufferView view;
};

// The server's end of one request and response: an HTTP/1.1 exchange or an HTTP/2 stream.
// Threading: confined to its loop's thread; others reach it through EventLoop::post() and a
// weak reference of their own (see ExchangeHandler). Owned by its connection.
class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual EventLoop& loop() = 0;
  // A stable name of the client for logs: "127.0.0.1:51234".
  virtual std::string_view peer() const = 0;

  // A whole response at once. HTTP/1.1 sends Content-Length and one sendmsg().
  virtual void respond(int status, std::span<const Header> headers, std::vector<Segment> body) = 0;

  // A response in parts (gRPC): headers once, data any number of times, then trailers or end.
  // HTTP/1.1 uses chunks and drops trailers.
  virtual void send_headers(int status, std::span<const Header> headers) = 0;
  virtual void send_data(std::vector<Segment> data) = 0;
  virtual void end(std::span<const Header> trailers) = 0;

  // Bytes given to send_data() that the client's window or socket has not taken yet.
  virtual std::size_t unsent_bytes() const = 0;

  // Ends the exchange without a whole response: RST_STREAM (`http2_error`), or closes the HTTP/1.1
  // connection.
  virtual void reset(std::uint32_t http2_error) = 0;

  // The handler took `bytes` of the body: the client may send as many again. Only for handlers that
  // asked for manual flow control (ExchangeHandler::manual_flow_control).
  virtual void consume(std::size_t bytes) = 0;
};

// What the server does with one request. Made per exchange by the listener's HandlerFactory when
// the head has come, destroyed after on_close(). All calls come on the exchange's loop thread.
class ExchangeHandler {
 public:
  virtual ~ExchangeHandler() = default;

  // The head has come. The handler may respond at once (refusals); the rest of the body is then
  // drained within limits or the connection closed.
  virtual void on_head(Exchange& exchange, const RequestHead& head) = 0;

  // Where the next bytes of the body should go, so that the socket is read straight into place: a
  // range of at most `wanted` bytes, or empty: then on_data() is called with the loop's own bytes.
  // Only HTTP/1.1 with a Content-Length asks. `on_filled(n)` follows each read into it.
  virtual std::span<std::byte> body_target(std::size_t wanted) {
    (void)wanted;
    return {};
  }
  virtual void on_filled(std::size_t bytes) { (void)bytes; }

  virtual void on_data(std::span<const std::byte> data) = 0;

  // The body is complete; trailers are dropped.
  virtual void on_end() = 0;

  // unsent_bytes() has fallen below the loop's low-water mark after having been above it.
  virtual void on_writable() {}

  // The exchange is over and must not be touched any more. Exactly once, last.
  virtual void on_close(CloseReason reason) = 0;

  virtual bool manual_flow_control() const { return false; }
};

}  // namespace proa::net
