#include "net/testing/http2_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "net/testing/loopback.h"

namespace proa::net {

struct Http2ClientCallbacks {
  static Http2Client& client(void* user) { return *static_cast<Http2Client*>(user); }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                    std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                    std::uint8_t, void* user) {
    Http2Response& response = client(user).streams_[frame->hd.stream_id].response;
    const std::string key(reinterpret_cast<const char*>(name), name_size);
    const std::string text(reinterpret_cast<const char*>(value), value_size);
    if (key == ":status") {
      response.status = std::atoi(text.c_str());
    } else if (frame->headers.cat == NGHTTP2_HCAT_HEADERS) {
      response.trailers[key] = text;
    } else {
      response.headers[key] = text;
    }
    return 0;
  }

  static int data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes,
                  std::size_t size, void* user) {
    client(user).streams_[id].response.body.append(reinterpret_cast<const char*>(bytes), size);
    return 0;
  }

  static int closed(nghttp2_session*, std::int32_t id, std::uint32_t error, void* user) {
    Http2Response& response = client(user).streams_[id].response;
    response.closed = true;
    response.error = error;
    return 0;
  }

  static int frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Http2Client& self = client(user);
    if (frame->hd.type == NGHTTP2_PING) {
      ++((frame->hd.flags & NGHTTP2_FLAG_ACK) ? self.pongs_received_ : self.pings_received_);
    }
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      const auto* debug = reinterpret_cast<const char*>(frame->goaway.opaque_data);
      self.goaways_.push_back({frame->goaway.last_stream_id, frame->goaway.error_code,
                               std::string(debug, frame->goaway.opaque_data_len)});
    }
    return 0;
  }

  static ssize_t read_body(nghttp2_session*, std::int32_t id, std::uint8_t* into,
                           std::size_t length, std::uint32_t* flags, nghttp2_data_source*,
                           void* user) {
    Http2Client::Stream& stream = client(user).streams_[id];
    const std::size_t n = std::min(length, stream.body.size() - stream.sent);
    if (n == 0 && stream.open) {
      stream.deferred = true;
      return NGHTTP2_ERR_DEFERRED;
    }
    std::memcpy(into, stream.body.data() + stream.sent, n);
    stream.sent += n;
    if (stream.sent == stream.body.size() && !stream.open) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(n);
  }
};

Http2Client::Http2Client(std::uint16_t port, const Options& options)
    : fd_(::socket(AF_INET, SOCK_STREAM, 0)), options_(options) {
  connect_loopback(fd_, port);
  nghttp2_session_callbacks* callbacks;
  nghttp2_session_callbacks_new(&callbacks);
  using C = Http2ClientCallbacks;
  nghttp2_session_callbacks_set_on_header_callback(callbacks, C::header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, C::data);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, C::closed);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, C::frame);
  nghttp2_option* option;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, options.update_windows ? 0 : 1);
  nghttp2_option_set_no_auto_ping_ack(option, options.answer_pings ? 0 : 1);
  nghttp2_session_client_new2(&session_, callbacks, this, option);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<std::uint32_t>(options.stream_window)}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, 1);
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, options.connection_window);
}

Http2Client::~Http2Client() {
  close();
  nghttp2_session_del(session_);
}

void Http2Client::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  ended_ = true;
}

std::int32_t Http2Client::submit(std::string_view method, std::string_view target, std::string body,
                                 const Headers& more_headers, bool open) {
  Headers headers = {{":method", std::string(method)},
                     {":scheme", "http"},
                     {":path", std::string(target)},
                     {":authority", "test"}};
  headers.insert(headers.end(), more_headers.begin(), more_headers.end());
  std::vector<nghttp2_nv> fields;
  for (auto& [name, value] : headers) {
    fields.push_back({reinterpret_cast<std::uint8_t*>(name.data()),
                      reinterpret_cast<std::uint8_t*>(value.data()), name.size(), value.size(),
                      NGHTTP2_NV_FLAG_NONE});
  }
  nghttp2_data_provider provider{.source = {}, .read_callback = Http2ClientCallbacks::read_body};
  const bool has_body = open || !body.empty();
  const std::int32_t id = nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(),
                                                 has_body ? &provider : nullptr, nullptr);
  if (id > 0) {
    streams_[id].body = std::move(body);
    streams_[id].open = open;
  }
  return id;
}

void Http2Client::send_data(std::int32_t id, std::string_view bytes, bool end) {
  Stream& stream = streams_[id];
  stream.body += bytes;
  stream.open = !end;
  if (std::exchange(stream.deferred, false)) nghttp2_session_resume_data(session_, id);
}

void Http2Client::reset(std::int32_t id, std::uint32_t error) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, error);
}

void Http2Client::ping() { nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }

bool Http2Client::flush() {
  for (;;) {
    const std::uint8_t* data;
    ssize_t left = nghttp2_session_mem_send(session_, &data);
    if (left <= 0) return left == 0;
    while (left > 0) {
      const ssize_t sent =
          ::send(fd_, data, static_cast<std::size_t>(left), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) {
        data += sent;
        left -= sent;
        continue;
      }
      if (sent < 0 && errno == EAGAIN) {
        // Both sides may be full: make room before going on.
        pollfd ready{.fd = fd_, .events = POLLIN | POLLOUT, .revents = 0};
        ::poll(&ready, 1, 10'000);
        if ((ready.revents & POLLIN) != 0 && !read_some()) return false;
        continue;
      }
      return false;
    }
  }
}

void Http2Client::send_only() { flush(); }

bool Http2Client::read_some() {
  std::uint8_t bytes[65536];
  const ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
  if (got <= 0) {
    ended_ = true;
    return false;
  }
  return nghttp2_session_mem_recv(session_, bytes, static_cast<std::size_t>(got)) >= 0;
}

bool Http2Client::run_until(const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!done()) {
    if (ended_ || std::chrono::steady_clock::now() > deadline) return false;
    const bool sent = flush();
    if (done()) break;
    pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 10) > 0) {
      read_some();
    } else if (!sent) {
      ended_ = true;
    }
  }
  return true;
}

Http2Response& Http2Client::wait(std::int32_t id) {
  run_until([&] { return response(id).closed; });
  return response(id);
}

Http2Response& Http2Client::post(std::string_view target, std::string body) {
  return wait(submit("POST", target, std::move(body)));
}

}  // namespace proa::net
