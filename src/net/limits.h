#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace proa::net {

// What a listener lets its clients do. Times of 0 mean "no limit". docs/net.md says what a client
// sees when it passes one. Threading: a plain value, constant once the listener is open.
struct Limits {
  // --- connections -------------------------------------------------------------------------------
  std::size_t max_connections = 10'000;  // per listener; beyond: 503 and close
  // The whole head within that time of its first byte (of the connection, for the first request).
  std::chrono::milliseconds head_timeout{10'000};
  // Between two bytes of a body. On HTTP/2 only for bodies whose length was announced: a stream of
  // messages may pause.
  std::chrono::milliseconds body_timeout{30'000};
  // Of such a body on average, its first body_timeout apart; 0 = any. What has come of a request
  // holds memory.
  std::uint64_t min_body_bytes_per_second = 256;
  // An HTTP/1.1 connection between two requests.
  std::chrono::milliseconds idle_timeout{75'000};
  // No byte taken by a client that has output waiting (HTTP/2: more than unread_bytes of it).
  std::chrono::milliseconds write_timeout{30'000};
  std::size_t unread_bytes = 1 << 20;

  // --- requests ----------------------------------------------------------------------------------
  std::size_t max_head_bytes = 64 * 1024;    // all header lines together; beyond: 431
  std::size_t max_target_bytes = 16 * 1024;  // the request target; beyond: 414
  std::size_t max_headers = 200;             // header lines; beyond: 431
  // Beyond: 413. Handlers with manual flow control bound what they hold, not what comes in all.
  std::uint64_t max_body_bytes = 1ull << 30;
  // A refused request's body of up to so many bytes is read and dropped to keep the connection.
  std::size_t max_dropped_body_bytes = 256 * 1024;
  // Pipelined bytes kept while a response is under way; beyond, the socket is not read.
  std::size_t max_pipelined_bytes = 64 * 1024;
  // Where ExchangeHandler::on_writable() fires.
  std::size_t low_water_bytes = 64 * 1024;

  // --- HTTP/2 ------------------------------------------------------------------------------------
  // A connection without streams: GOAWAY. Long, because gRPC channels are kept for later.
  std::chrono::milliseconds http2_idle_timeout{3'600'000};
  std::uint32_t max_concurrent_streams = 1000;  // streams whose work is still under way included
  // Output that waits for the client, of all streams together; beyond, new streams are refused.
  std::size_t max_unsent_bytes = 512 << 20;
  std::uint32_t stream_window_bytes = 4 << 20;
  std::uint32_t connection_window_bytes = 16 << 20;
  std::uint32_t max_frame_bytes = 1 << 20;
  // Resets and refused streams: so many at once, and so many a second; beyond: GOAWAY
  // ENHANCE_YOUR_CALM.
  std::uint32_t reset_burst = 4000;
  std::uint32_t resets_per_second = 1000;
  // Control frames that ask for an answer (PING, SETTINGS) or carry nothing (empty DATA, PRIORITY).
  std::uint32_t control_burst = 2000;
  std::uint32_t control_frames_per_second = 200;
  // Pings of the client: closer together than that without data between them is a strike, more
  // than `max_ping_strikes` end the connection ("too_many_pings", as gRPC servers do).
  // 0 strikes = any number.
  std::chrono::milliseconds min_ping_interval{300'000};
  std::uint32_t max_ping_strikes = 2;
  bool permit_pings_without_streams = false;
  // Our own pings after so long without a byte from the client; unanswered for `ping_timeout`:
  // gone.
  std::chrono::milliseconds ping_interval{7'200'000};
  std::chrono::milliseconds ping_timeout{20'000};
  bool ping_without_streams = false;
  // So many of them without headers or data of ours in between; 0 = any number.
  std::uint32_t max_pings_without_data = 2;
  // GOAWAY after that age; streams then have `age_grace` to end.
  std::chrono::milliseconds max_connection_age{0};
  std::chrono::milliseconds age_grace{0};
};

}  // namespace proa::net
