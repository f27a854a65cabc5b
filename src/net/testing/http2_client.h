#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace proa::net {

struct Http2Response {
  int status = 0;
  std::map<std::string, std::string> headers;
  std::map<std::string, std::string> trailers;
  std::string body;
  bool closed = false;
  std::uint32_t error = NGHTTP2_NO_ERROR;  // of RST_STREAM
};

// A blocking HTTP/2 client with prior knowledge, on an nghttp2 client session. It moves bytes only
// inside run_until() and wait(), which give up after ten seconds.
class Http2Client {
 public:
  struct Options {
    std::int32_t stream_window = 65535;
    std::int32_t connection_window = 65535;
    bool update_windows = true;  // false: the server may send the first windows and no more
    bool answer_pings = true;
  };
  using Headers = std::vector<std::pair<std::string, std::string>>;

  explicit Http2Client(std::uint16_t port) : Http2Client(port, Options()) {}
  Http2Client(std::uint16_t port, const Options& options);
  ~Http2Client();
  Http2Client(const Http2Client&) = delete;

  // Starts a request; with `open`, its body goes on with send_data().
  std::int32_t submit(std::string_view method, std::string_view target, std::string body = {},
                      const Headers& more_headers = {}, bool open = false);
  void send_data(std::int32_t id, std::string_view bytes, bool end);
  void reset(std::int32_t id, std::uint32_t error = NGHTTP2_CANCEL);
  void ping();

  Http2Response& response(std::int32_t id) { return streams_[id].response; }
  // Moves bytes until `done()`; false after ten seconds or at the end of the connection.
  bool run_until(const std::function<bool()>& done);
  // Until the stream is closed.
  Http2Response& wait(std::int32_t id);
  // One whole request.
  Http2Response& post(std::string_view target, std::string body);
  // Sends what is queued and does not read.
  void send_only();
  void close();

  nghttp2_session* raw() { return session_; }
  bool ended() const { return ended_; }
  int pings_received() const { return pings_received_; }
  int pongs_received() const { return pongs_received_; }

  struct GoAway {
    std::int32_t last_stream;
    std::uint32_t error;
    std::string debug;
  };
  const std::vector<GoAway>& goaways() const { return goaways_; }

 private:
  friend struct Http2ClientCallbacks;
  struct Stream {
    Http2Response response;
    std::string body;
    std::size_t sent = 0;
    bool open = false;
    bool deferred = false;
  };

  bool flush();
  bool read_some();

  int fd_;
  nghttp2_session* session_ = nullptr;
  Options options_;
  std::map<std::int32_t, Stream> streams_;
  std::vector<GoAway> goaways_;
  int pings_received_ = 0;
  int pongs_received_ = 0;
  bool ended_ = false;
};

}  // namespace proa::net
