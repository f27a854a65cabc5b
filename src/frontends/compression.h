#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "frontends/message_buffer.h"

namespace proa::frontends {

// How bytes are packed on the way. The names are the same in HTTP's Content-Encoding and gRPC's
// grpc-encoding; "deflate" is the zlib format (RFC 1950) in both.
enum class Encoding : std::uint8_t { kIdentity, kGzip, kDeflate, kUnknown };

// "" and "identity" are kIdentity; case does not matter.
Encoding parse_encoding(std::string_view name);
std::string_view encoding_name(Encoding encoding);

// The best of gzip and deflate that an Accept-Encoding or grpc-accept-encoding list allows; "q=0"
// forbids one, other weights only order them; of equal ones the first counts. kIdentity when
// neither is there.
Encoding choose_encoding(std::string_view accepted);

// Unpacks `packed` into `to` (a fresh message). A gzip header in a "deflate" message, and the other
// way round, is accepted. Errors: kInvalidArgument for malformed or truncated data,
// kResourceExhausted beyond `max_bytes` (naming `flag`), kUnavailable from the budget.
Status decompress(std::span<const std::byte> packed, std::size_t max_bytes, std::string_view flag,
                  MessageBuffer& to);

// Appends the packed form of all `parts` to `out`. `level` is zlib's, 1 (fast) to 9.
void compress(std::span<const std::span<const std::byte>> parts, Encoding encoding, int level,
              std::string& out);

}  // namespace proa::frontends
