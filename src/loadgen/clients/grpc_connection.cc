#include "loadgen/clients/grpc_connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/stamped_receive.h"
#include "fmt/format.h"
#include "loadgen/clients/grpc_callbacks.h"

namespace proa::loadgen {
namespace {

constexpr std::size_t kReadBytes = 256 << 10;
constexpr std::size_t kWriteBytes = 256 << 10;
constexpr std::int32_t kWindowBytes = 1 << 30;  // the server need never wait for us

nghttp2_nv field(std::string_view name, std::string_view value) {
  // nghttp2 does not write through the pointers.
  return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(),
          value.size(), NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

}  // namespace

GrpcConnection::GrpcConnection(Loop& loop, const Address& address,
                               const std::vector<std::string>& metadata, Owner& owner)
    : loop_(loop), address_(address), metadata_(metadata), owner_(owner) {}

GrpcConnection::~GrpcConnection() {
  if (fd_ >= 0) {
    loop_.forget(fd_, *this);
    ::close(fd_);
  }
  nghttp2_session_del(session_);
}

void GrpcConnection::make_session() {
  nghttp2_session_del(session_);
  session_ = GrpcCallbacks::make_session(*this);
  const std::array<nghttp2_settings_entry, 2> settings = {{
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kWindowBytes},
  }};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kWindowBytes);
  going_away_ = false;
  out_.clear();
  written_ = 0;
}

void GrpcConnection::connect() {
  if (state_ != State::kClosed) return;
  make_session();
  state_ = State::kConnecting;
  Result<int> fd = start_connecting(address_);
  if (!fd) {
    lose({"connection failed", fd.error().message});
    return;
  }
  fd_ = *fd;
  loop_.watch(fd_, EPOLLOUT, *this);
}

std::size_t GrpcConnection::room(std::size_t most) const {
  if (going_away_) return 0;
  if (state_ == State::kConnected) {
    const std::uint32_t allowed =
        nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    most = std::min<std::size_t>(most, allowed);
  }
  return most > calls_.size() ? most - calls_.size() : 0;
}

bool GrpcConnection::open(GrpcCall& call, std::string_view path) {
  if (session_ == nullptr || going_away_ || state_ == State::kClosed) return false;
  std::vector<nghttp2_nv> fields = {field(":method", "POST"),
                                    field(":scheme", "http"),
                                    field(":path", path),
                                    field(":authority", address_.authority),
                                    field("te", "trailers"),
                                    field("content-type", "application/grpc"),
                                    field("user-agent", "proa-bench")};
  for (const std::string& line : metadata_) {
    const auto colon = line.find(':');
    std::string_view value = std::string_view(line).substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    fields.push_back(field(std::string_view(line).substr(0, colon), value));
    fields.back().flags &=
        ~NGHTTP2_NV_FLAG_NO_COPY_NAME;  // a copy is in small letters, as it must be
  }
  nghttp2_data_provider provider{.source = {.ptr = &call},
                                 .read_callback = GrpcCallbacks::read_message};
  const std::int32_t id =
      nghttp2_submit_request(session_, nullptr, fields.data(), fields.size(), &provider, &call);
  if (id < 0) return false;
  call.id_ = id;
  call.unsent_ = {};
  call.half_close_ = call.deferred_ = false;
  call.end_ = {.status = -1};
  call.frame_.clear();
  call.message_.clear();
  calls_.push_back(&call);
  return true;
}

void GrpcConnection::send(GrpcCall& call, std::string_view framed, bool last) {
  call.times_ = {};
  call.unsent_ = framed;
  call.half_close_ = last;
  if (std::exchange(call.deferred_, false)) nghttp2_session_resume_data(session_, call.id_);
}

void GrpcConnection::cancel(GrpcCall& call) {
  if (call.id_ == 0) return;
  nghttp2_session_set_stream_user_data(session_, call.id_, nullptr);
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, call.id_, NGHTTP2_CANCEL);
  forget(call);
}

void GrpcConnection::forget(GrpcCall& call) {
  call.id_ = 0;
  for (auto* list : {&calls_, &starting_, &just_sent_}) std::erase(*list, &call);
}

// nghttp2 asks for the next bytes of a call's message.
ssize_t GrpcConnection::read_message(GrpcCall& call, std::uint8_t* into, std::size_t length,
                                     std::uint32_t* flags) {
  if (call.unsent_.empty()) {
    call.deferred_ = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  if (call.times_.sent == TimePoint()) starting_.push_back(&call);
  const std::size_t size = std::min(length, call.unsent_.size());
  std::memcpy(into, call.unsent_.data(), size);
  call.unsent_.remove_prefix(size);
  if (call.unsent_.empty()) {
    just_sent_.push_back(&call);
    if (call.half_close_) *flags |= NGHTTP2_DATA_FLAG_EOF;
  }
  return static_cast<ssize_t>(size);
}

void GrpcConnection::flush() {
  if (state_ != State::kConnected) return;
  if (out_.empty() && nghttp2_session_want_write(session_) == 0) return;
  while (true) {
    if (!write_out()) return;
    const std::uint8_t* bytes = nullptr;
    ssize_t size = 0;
    while (out_.size() < kWriteBytes && (size = nghttp2_session_mem_send(session_, &bytes)) > 0) {
      out_.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    }
    if (size < 0) {
      lose(
          {"nonsense", fmt::format("HTTP/2 failed: {}", nghttp2_strerror(static_cast<int>(size)))});
      return;
    }
    if (out_.empty()) break;
  }
  if (just_sent_.empty()) return;
  const TimePoint now = steady_clock().now();
  for (GrpcCall* call : just_sent_) call->times_.sent_all = now;
  just_sent_.clear();
}

// False: the kernel takes no more for now, or the connection is lost.
bool GrpcConnection::write_out() {
  if (!starting_.empty()) {
    const TimePoint now = steady_clock().now();
    for (GrpcCall* call : starting_) call->times_.sent = now;
    starting_.clear();
  }
  while (written_ < out_.size()) {
    const ssize_t sent =
        ::send(fd_, out_.data() + written_, out_.size() - written_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      written_ += static_cast<std::size_t>(sent);
    } else if (sent < 0 && errno == EAGAIN) {
      if (!std::exchange(waits_to_write_, true)) loop_.change(fd_, EPOLLIN | EPOLLOUT, *this);
      return false;
    } else if (sent >= 0 || errno != EINTR) {
      lose({connect_failure_name(errno), "the connection broke while sending"});
      return false;
    }
  }
  out_.clear();
  written_ = 0;
  if (std::exchange(waits_to_write_, false)) loop_.change(fd_, EPOLLIN, *this);
  return true;
}

void GrpcConnection::on_ready(std::uint32_t events) {
  if (state_ == State::kConnecting) {
    finish_connecting();
    return;
  }
  if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) read_some();
  // Else flush() comes from the owner, after everything that is ready was read.
  if (state_ == State::kConnected && (events & EPOLLOUT) != 0) flush();
}

void GrpcConnection::finish_connecting() {
  if (const int failure = connect_result(fd_); failure != 0) {
    const std::string name = connect_failure_name(failure);
    lose({name, fmt::format("{} at {}", name, address_.authority)});
    return;
  }
  state_ = State::kConnected;
  waits_to_write_ = false;
  loop_.change(fd_, EPOLLIN, *this);
  owner_.connected(*this);
  flush();
}

void GrpcConnection::read_some() {
  static thread_local std::array<std::byte, kReadBytes> buffer;
  while (state_ == State::kConnected) {
    const auto [got, arrived] = receive_stamped(fd_, buffer);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
      lose({got == 0 ? "connection closed" : connect_failure_name(errno),
            fmt::format("the server at {} ended the connection", address_.authority)});
      return;
    }
    moment_ = arrived;
    const ssize_t used =
        nghttp2_session_mem_recv(session_, reinterpret_cast<const std::uint8_t*>(buffer.data()),
                                 static_cast<std::size_t>(got));
    if (used < 0) {
      lose({"nonsense", fmt::format("the server at {} does not speak HTTP/2 ({}); is that the port "
                                    "for HTTP?",
                                    address_.authority, nghttp2_strerror(static_cast<int>(used)))});
      return;
    }
    if (static_cast<std::size_t>(got) < buffer.size()) return;
  }
}

// nghttp2 has closed the call's stream.
void GrpcConnection::end_call(GrpcCall& call, std::uint32_t http2_error) {
  forget(call);
  if (call.end_.status < 0 && call.end_.message.empty()) {
    call.end_.message =
        http2_error == NGHTTP2_NO_ERROR
            ? "the call ended without a status"
            : fmt::format("the server reset the call: {}", nghttp2_http2_strerror(http2_error));
  }
  if (call.times_.last_byte == TimePoint()) call.times_.last_byte = moment_;
  call.ended(GrpcEnd(call.end_));
}

// Closes; every open call ends with the failure, then the owner hears of it.
void GrpcConnection::lose(Failure failure) {
  const bool while_connecting = state_ == State::kConnecting;
  state_ = State::kClosed;
  if (fd_ >= 0) {
    loop_.forget(fd_, *this);
    ::close(fd_);
  }
  fd_ = -1;
  starting_.clear();
  just_sent_.clear();
  moment_ = steady_clock().now();
  for (GrpcCall* call : std::exchange(calls_, {})) {
    call->id_ = 0;
    call->ended({-1, failure.message, failure.kind});
  }
  owner_.lost(*this, failure, while_connecting);
}

}  // namespace proa::loadgen
