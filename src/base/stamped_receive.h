#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

#include "base/clock.h"

namespace proa {

// Lets the kernel note when the bytes of a socket arrive, so that whoever measures by it does not
// count its own waking up. Without effect where the kernel refuses.
// Source: Linux, Documentation/networking/timestamping.rst (SO_TIMESTAMPING).
void stamp_arrivals(int socket);

struct StampedReceive {
  ssize_t size = 0;   // as recv() returns it; errno is set when negative
  TimePoint arrived;  // when the last of the bytes came; now where the kernel does not say
};

// recv() without waiting, of a socket given to stamp_arrivals().
StampedReceive receive_stamped(int socket, std::span<std::byte> into);

}  // namespace proa
