#pragma once

#include "base/error.h"

namespace proa::frontends {

// Parts of Triton's protocol that are not built. Their endpoints are known, so that a client learns
// that, and what to do instead, from a 501 / UNIMPLEMENTED instead of a bare 404.
enum class NotBuilt : std::uint8_t { kSharedMemory, kTrace, kGenerate };

inline Error not_built(NotBuilt feature) {
  switch (feature) {
    case NotBuilt::kSharedMemory:
      return error::unimplemented(
          "shared memory is not built into this server: send tensors in the request and take them "
          "from the response");
    case NotBuilt::kTrace:
      return error::unimplemented(
          "traces are not built into this server: its metrics and statistics tell where time goes");
    case NotBuilt::kGenerate:
      break;
  }
  return error::unimplemented(
      "the generate extension is not built into this server: use .../infer with named tensors");
}

}  // namespace proa::frontends
