#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace proa::loadgen {

// Where a server listens, looked up once.
// Threading: a plain value.
struct Address {
  std::string authority;  // "localhost:8000", for Host and :authority
  std::string prefix;     // of every HTTP path: "" or "/behind/a/proxy"
  sockaddr_storage socket{};
  socklen_t socket_size = 0;
};

// "host:port", "http://host:port/prefix", "[::1]:8000"; `default_port` when none is given. Looks
// the name up, which may block. Errors: kInvalidArgument; kUnimplemented for https; kUnavailable
// for names that nobody knows.
Result<Address> resolve(std::string_view url, std::string_view default_port);

// A non-blocking TCP socket that is connecting to it, without Nagle's delay; the kernel stamps what
// arrives (base/stamped_receive.h).
// Errors: kUnavailable with the system's reason.
Result<int> start_connecting(const Address& address);

// How the connecting went, once the socket is writable: 0 or an errno.
int connect_result(int fd);

// "connection refused" for ECONNREFUSED and so on: what a report calls it.
std::string connect_failure_name(int error_number);

}  // namespace proa::loadgen
