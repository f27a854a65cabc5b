#pragma once

#include <cstddef>
#include <string>

#include "boost/container/small_vector.hpp"
#include "frontends/compression.h"
#include "net/exchange.h"
#include "protocol/infer.h"

namespace proa::frontends {

// The parts of a message on their way to an exchange.
using Segments = boost::container::small_vector<net::Segment, 4>;

Segments to_segments(protocol::EncodedMessage message);

std::size_t total_size(std::span<const net::Segment> parts);

// Replaces all parts by their packed form, in the first one's bytes. The first `skip` bytes of the
// first part are kept as they are, in front.
void pack(std::span<net::Segment> parts, std::size_t skip, Encoding encoding, int level);

}  // namespace proa::frontends
