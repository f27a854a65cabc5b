#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace proa::scripted {

// What a session tells the server: an inference request has come whole.
class Host {
 public:
  virtual ~Host() = default;
  virtual void inference_came(std::uint32_t request) = 0;
};

// One connection's protocol, without sockets: bytes in, bytes out.
class Session {
 public:
  virtual ~Session() = default;
  // False: the connection is of no more use.
  virtual bool read(std::string_view bytes) = 0;
  // Puts the answer to an inference request into `out`; `fail`: a 503 or UNAVAILABLE.
  virtual void answer(std::uint32_t request, bool fail) = 0;

  std::string out;  // what is to be sent
};

}  // namespace proa::scripted
