#pragma once

#include <nghttp2/nghttp2.h>

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "session.h"

namespace proa::scripted {

// gRPC's unary calls over HTTP/2. Request messages are counted, not read.
class Http2Session : public Session {
 public:
  explicit Http2Session(Host& host);
  bool read(std::string_view bytes) override;
  void answer(std::uint32_t request, bool fail) override;

 private:
  struct Call {
    std::string path;
    std::string reply;  // framed; what is left to send
  };
  struct Callbacks;

  void call_came(std::int32_t stream);
  void respond(std::int32_t stream, const std::string& message);
  void fail(std::int32_t stream, const char* status, const char* text);
  void flush();

  Host& host_;
  std::unique_ptr<nghttp2_session, decltype(&nghttp2_session_del)> session_;
  std::unordered_map<std::int32_t, Call> calls_;
};

}  // namespace proa::scripted
