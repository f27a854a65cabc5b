#include "net/connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <utility>

#include "base/log.h"
#include "fmt/core.h"
#include "net/body_pace.h"
#include "net/protocol_sniffer.h"

namespace proa::net {
namespace {

// How often, and for how long, one connection is read before others get their turn: a buffer may
// hold thousands of small messages.
constexpr int kReadsPerEvent = 8;
constexpr std::chrono::milliseconds kTurn{1};
constexpr std::size_t kMaxVectors = 256;
// How long a connection that has said its last word waits for its client to close: closing before
// the client has stopped sending would take that word back (TCP reset).
constexpr std::chrono::milliseconds kLingerTime{1'000};

std::string format_peer(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return fmt::format("{}:{}", text, ntohs(v4.sin_port));
  }
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    return fmt::format("[{}]:{}", text, ntohs(v6.sin6_port));
  }
  return text;
}

}  // namespace

Connection::Connection(ConnectionHost& host, Socket socket, const sockaddr_storage& peer)
    : host_(host), socket_(std::move(socket)), peer_address_(peer) {}

Connection::~Connection() { loop().forget(*this); }

void Connection::start() {
  session_ = std::make_unique<ProtocolSniffer>(*this);
  wait_to_read();
}

std::string_view Connection::peer() {
  if (peer_.empty()) peer_ = format_peer(peer_address_);
  return peer_;
}

TimePoint Connection::deadline(std::chrono::milliseconds timeout) const {
  if (timeout.count() == 0) return kNever;
  return deadline_after(host_.coarse_now(), timeout + host_.tick());
}

TimePoint Connection::body_deadline(TimePoint started, std::uint64_t received) const {
  return body_overdue_at(host_.limits(), started + host_.tick(), received,
                         host_.coarse_now() + host_.tick());
}

void Connection::become(std::unique_ptr<Session> next, std::span<std::byte> bytes) {
  retired_ = std::exchange(session_, std::move(next));
  session_->on_bytes(bytes);
}

void Connection::start_drain() {
  // A request that has reached this machine before the drain is served.
  if (!closing() && !lingering_ && session_->wants_read()) read_once();
  if (!closing()) session_->start_drain();
}

void Connection::on_tick(TimePoint now) {
  if (closing()) return;
  if (now >= write_deadline_) return close_abused("it does not read its responses");
  if (now >= linger_deadline_) return close_soon(CloseReason::kFinished);
  if (!lingering_) session_->on_tick(now);
}

void Connection::close_soon(CloseReason reason) {
  if (closing()) return;
  closing_ = true;
  close_reason_ = reason;
  mark_dirty();
}

void Connection::close_abused(std::string_view why) {
  if (closing()) return;
  note_abuse(why);
  close_soon(CloseReason::kServerAbort);
}

void Connection::note_abuse(std::string_view why) {
  loop().stats().connections_abused.add(1);
  log::debug("connection of {} ends: {}", peer(), why);
}

void Connection::close_when_sent(bool linger) {
  if (close_when_sent_) return;
  close_when_sent_ = true;
  linger_ = linger;
  mark_dirty();
}

void Connection::close(CloseReason reason) {
  if (closed_) return;
  closed_ = true;
  loop().forget(*this);
  session_->on_closed(reason);
  output_.clear();
  socket_.close();
  if (!waiting_to_read_ && !waiting_to_write_) host_.remove(*this);
}

void Connection::wait_to_read() {
  if (waiting_to_read_ || closing() || !(lingering_ || session_->wants_read())) return;
  waiting_to_read_ = true;
  socket_.wait_readable([this] {
    waiting_to_read_ = false;
    on_readable();
  });
}

void Connection::wait_to_write() {
  write_deadline_ = deadline(limits().write_timeout);
  waiting_to_write_ = true;
  socket_.wait_writable([this] {
    waiting_to_write_ = false;
    write_deadline_ = kNever;
    if (closed_) {
      if (!waiting_to_read_) host_.remove(*this);
      return;
    }
    flush();
  });
}

void Connection::on_readable() {
  if (closed_) {
    if (!waiting_to_write_) host_.remove(*this);
    return;
  }
  const TimePoint end = steady_clock().now() + kTurn;
  for (int i = 0; i < kReadsPerEvent; ++i) {
    if (closing() || !(lingering_ || session_->wants_read())) break;
    if (!read_once() || steady_clock().now() >= end) break;
  }
  if (!closed_) wait_to_read();
}

// False when the socket is likely empty, or the connection is over.
bool Connection::read_once() {
  std::span<std::byte> target;
  if (!lingering_) target = session_->read_target();
  const bool direct = !target.empty();
  if (!direct) target = {loop().read_buffer(), EventLoop::kReadBufferBytes};
  const IoResult result = socket_.read(target);
  if (result.status == IoStatus::kWouldBlock) return false;
  if (result.status == IoStatus::kClosed) {
    close_soon(lingering_ ? CloseReason::kFinished : CloseReason::kClientReset);
    return false;
  }
  loop().stats().bytes_received.add(result.bytes);
  if (lingering_) return true;
  if (direct) {
    session_->on_filled(result.bytes);
    // A body read to its end needs no second look at the socket.
    return result.bytes == target.size() && !session_->read_target().empty();
  }
  session_->on_bytes(target.first(result.bytes));
  retired_.reset();
  return result.bytes == target.size();
}

void Connection::flush() {
  if (closed_) return;
  if (lingering_ && !closing_) return;
  while (!closing_ && !waiting_to_write_) {
    session_->fill_output();
    if (output_.empty()) break;
    std::array<iovec, kMaxVectors> vectors;
    const std::size_t used = output_.gather(vectors);
    std::size_t asked = 0;
    for (std::size_t i = 0; i < used; ++i) asked += vectors[i].iov_len;
    const IoResult result = socket_.write(std::span(vectors).first(used));
    if (result.status == IoStatus::kClosed) return close(CloseReason::kClientReset);
    output_.consume(result.bytes);
    loop().stats().bytes_sent.add(result.bytes);
    if (result.bytes < asked) wait_to_write();
  }
  if (!closing_) session_->on_written();
  if (closing_) return close(close_reason_);
  if (close_when_sent_ && output_.empty()) return finish_sending();
  wait_to_read();
}

void Connection::finish_sending() {
  if (!linger_) return close(CloseReason::kFinished);
  lingering_ = true;
  linger_deadline_ = deadline(kLingerTime);
  socket_.shut_down_write();
  wait_to_read();
}

}  // namespace proa::net
