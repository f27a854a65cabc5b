#include "net/protocol_sniffer.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "net/http1_session.h"
#include "net/http2_session.h"

namespace proa::net {
namespace {

// Source: RFC 9113, section 3.4.
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

}  // namespace

ProtocolSniffer::ProtocolSniffer(Connection& connection)
    : connection_(connection), deadline_(connection.deadline(connection.limits().head_timeout)) {}

void ProtocolSniffer::on_bytes(std::span<std::byte> bytes) {
  if (!seen_.empty()) {
    seen_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    bytes = std::as_writable_bytes(std::span(seen_));
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t compared = std::min(text.size(), kPreface.size());
  if (text.substr(0, compared) == kPreface.substr(0, compared)) {
    if (compared == kPreface.size()) {
      return connection_.become(std::make_unique<Http2Session>(connection_), bytes);
    }
    if (seen_.empty()) seen_ = text;
    return;
  }
  connection_.become(std::make_unique<Http1Session>(connection_), bytes);
}

void ProtocolSniffer::on_tick(TimePoint now) {
  if (now >= deadline_) connection_.close_soon(CloseReason::kServerAbort);
}

void ProtocolSniffer::start_drain() { connection_.close_soon(CloseReason::kServerAbort); }

}  // namespace proa::net
