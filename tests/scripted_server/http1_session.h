#pragma once

#include <string>
#include <string_view>

#include "session.h"

namespace proa::scripted {

// HTTP/1.1 with Content-Length bodies; one inference at a time on a connection, as clients do.
class Http1Session : public Session {
 public:
  explicit Http1Session(Host& host) : host_(host) {}
  bool read(std::string_view bytes) override;
  void answer(std::uint32_t request, bool fail) override;

 private:
  bool take_request();
  void respond(int status, std::string_view body);

  Host& host_;
  std::string buffer_;
};

}  // namespace proa::scripted
