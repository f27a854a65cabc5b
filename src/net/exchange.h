#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "net/event_loop.h"
#include "tensor/buffer.h"

namespace proa::net {

class Exchange;

struct Header {
  std::string_view name;  // lower case
  std::string_view value;
  std::string_view spelled = {};  // the name as an HTTP/1.1 client wrote it, where that is another
};

// What a client asked, whatever the HTTP version. Views live until ExchangeHandler::on_head()
// returns; copy what is needed later.
struct RequestHead {
  std::string_view method;          // "GET"
  std::string_view target;          // "/v2/models/a/infer?x=1", percent-encoded as it came
  std::string_view authority;       // Host or :authority
  std::span<const Header> headers;  // without HTTP/2's pseudo headers
  int http_major = 1;
  // Bytes of the body as announced; -1 = not announced (chunked, HTTP/2 without content-length).
  // 0 on HTTP/1.1 also when the request announces no body.
  std::int64_t content_length = -1;

  // The first header of that (lower case) name; empty when absent.
  std::string_view header(std::string_view name) const;
};

enum class CloseReason : std::uint8_t {
  kFinished,     // the response was handed to the socket, whole
  kClientReset,  // RST_STREAM, or the connection is gone
  kServerAbort,  // a limit was passed, the server is stopping, or the handler called reset()
};

// A part of a response body: bytes of its own, then a view that keeps a buffer alive. Small parts
// are copied behind the head, larger ones are sent from where they lie.
struct Segment {
  std::string bytes;
  BufferView view;

  std::size_t size() const { return bytes.size() + view.size; }
};

// A handle of an exchange that may outlive it: what a ResponseSink keeps while a model works on
// another thread. Costs one small allocation per exchange, on its first ref().
//
//   sink.send(response):  ref_.run([this_handler, r = std::move(response)](Exchange& exchange) {
//                           this_handler->reply(exchange, r);
//                         });
//
// The function runs only while the exchange is open, and its handler lives as long as that: so it
// may hold a plain pointer to the handler.
// Threading: any thread; a single ExchangeRef object belongs to one thread at a time. The loop must
// outlive it (LoopGroup is destroyed after everything that answers).
class ExchangeRef {
 public:
  ExchangeRef() = default;
  ExchangeRef(const ExchangeRef& other);
  ExchangeRef(ExchangeRef&& other) noexcept : link_(std::exchange(other.link_, nullptr)) {}
  ExchangeRef& operator=(ExchangeRef other) noexcept {
    std::swap(link_, other.link_);
    return *this;
  }
  ~ExchangeRef();

  explicit operator bool() const { return link_ != nullptr; }
  // The loop of the exchange; this handle must not be empty. Any thread.
  EventLoop& loop() const;
  // The exchange, or null when it is over. On the loop's thread only.
  Exchange* get() const;
  // True when no other handle of this exchange is left. Any thread.
  bool unique() const;

  // Calls `function(Exchange&)` on the loop's thread if the exchange is still open then, and drops
  // it otherwise: at once and without an allocation when this is that thread, else through
  // EventLoop::post() with one allocation. Answers that reach a loop together leave by one write
  // per connection.
  template <class Function>
  void run(Function function) const {
    if (link_ == nullptr) return;
    if (loop().on_thread()) {
      if (Exchange* exchange = get()) function(*exchange);
      return;
    }
    loop().post([ref = *this, function = std::move(function)]() mutable {
      if (Exchange* exchange = ref.get()) function(*exchange);
    });
  }

 private:
  friend class Exchange;
  struct Link;
  explicit ExchangeRef(Link* link) : link_(link) {}
  Link* link_ = nullptr;
};

// The server's end of one request and response: an HTTP/1.1 exchange or an HTTP/2 stream.
// No call of the handler happens inside a call of these functions: what they cause (on_writable,
// on_close) comes later, from the loop. Calls after the response has ended do nothing.
// Threading: confined to its loop's thread; others go through an ExchangeRef. Owned by its
// connection.
class Exchange {
 public:
  explicit Exchange(EventLoop& loop) : loop_(loop) {}
  virtual ~Exchange() { detach(); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  EventLoop& loop() const { return loop_; }
  ExchangeRef ref();

  // The client for logs: "127.0.0.1:51234". Stable while the exchange is open.
  virtual std::string_view peer() = 0;

  // A whole response at once; the parts are moved from. HTTP/1.1 sends Content-Length and one
  // sendmsg(). Header names in lower case; content-length, transfer-encoding and connection are
  // this room's business. Allowed as soon as on_head() is called, even before the body has come.
  virtual void respond(int status, std::span<const Header> headers, std::span<Segment> body) = 0;

  // A response in parts (gRPC): headers once, data any number of times, then trailers or end.
  // HTTP/1.1 uses chunks and drops trailers. The parts are moved from.
  virtual void send_headers(int status, std::span<const Header> headers) = 0;
  virtual void send_data(std::span<Segment> data) = 0;
  virtual void end(std::span<const Header> trailers) = 0;

  // Bytes given to send_data() or respond() that the client's window or socket has not taken yet.
  virtual std::size_t unsent_bytes() const = 0;

  // Ends the exchange without a whole response: RST_STREAM with `http2_error` (RFC 9113 section 7),
  // or closes the HTTP/1.1 connection.
  virtual void reset(std::uint32_t http2_error) = 0;

  // The handler is done with `bytes` of the body: the client may send as many again. Only for
  // handlers that asked for manual flow control (ExchangeHandler::manual_flow_control).
  virtual void consume(std::size_t bytes) = 0;

 protected:
  // Makes all handles to this exchange come out null from now on. Returns one of them (empty when
  // ref() was never called), by which the caller can see when the others are gone.
  ExchangeRef detach();

 private:
  EventLoop& loop_;
  ExchangeRef::Link* link_ = nullptr;
};

// What the server does with one request. Made per exchange by the listener's HandlerFactory when
// the head has come, destroyed after on_close(). All calls come on the exchange's loop thread.
class ExchangeHandler {
 public:
  virtual ~ExchangeHandler() = default;

  // The head has come. The exchange lives until on_close(). The handler may respond at once
  // (refusals); the rest of the body is then dropped within limits, or the connection closed.
  virtual void on_head(Exchange& exchange, const RequestHead& head) = 0;

  // Where the next bytes of the body should go, so that the socket is read straight into place: a
  // range of at most `wanted` bytes that stays valid until on_close(), or empty: then on_data() is
  // called with the loop's own bytes. Only HTTP/1.1 with a Content-Length asks, and `wanted` is
  // what is still missing. `on_filled(n)` follows each read into it; the next body_target() is
  // asked only when the range is full.
  virtual std::span<std::byte> body_target(std::size_t wanted) {
    (void)wanted;
    return {};
  }
  virtual void on_filled(std::size_t bytes) { (void)bytes; }

  // The next bytes of the body; they are the loop's, copy what is needed.
  virtual void on_data(std::span<const std::byte> data) = 0;

  // The body is complete; trailers are dropped. Not called when the handler responded before.
  virtual void on_end() = 0;

  // unsent_bytes() has fallen below Limits::low_water_bytes after having been above it.
  virtual void on_writable() {}

  // The exchange is over and must not be touched any more. Exactly once, last.
  virtual void on_close(CloseReason reason) = 0;

  // True while something that has begun to come is not whole, as a message in a body of unknown
  // length: the rest must then come as fast as a body whose length is known. HTTP/2 only.
  virtual bool awaits_rest() const { return false; }

  // Asked once, after on_head(). True: the client may have at most Limits::stream_window_bytes on
  // the way that consume() has not given back.
  virtual bool manual_flow_control() const { return false; }
};

// Makes the handler of one exchange; never null. Called on every loop's thread, at the same time.
using HandlerFactory = std::function<std::unique_ptr<ExchangeHandler>(const RequestHead&)>;

}  // namespace proa::net
