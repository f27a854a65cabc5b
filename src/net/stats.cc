#include "net/stats.h"

namespace proa::net {

void NetStats::add(const LoopStats& loop) {
  connections_open += loop.connections_open.get();
  connections_accepted += loop.connections_accepted.get();
  connections_refused += loop.connections_refused.get();
  accept_errors += loop.accept_errors.get();
  http1_requests += loop.http1_requests.get();
  http2_requests += loop.http2_requests.get();
  bytes_received += loop.bytes_received.get();
  bytes_sent += loop.bytes_sent.get();
  streams_reset += loop.streams_reset.get();
  connections_abused += loop.connections_abused.get();
}

}  // namespace proa::net
