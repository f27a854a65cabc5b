#pragma once

#include <memory>

#include "base/clock.h"
#include "base/timer.h"
#include "core/backend.h"

namespace proa::backends {

// Output n = input n, any type and shape, BYTES included: a model that costs one copy, to test and
// to measure everything around a model. It needs no model file. Its configuration lists the inputs;
// outputs are "OUTPUT<n>" like input n unless it lists them too. docs/backends.md has its
// parameters (delay, failures, blocking or not).
//
// `timer` ends the delay of models that do not block; both outlive the backend.
std::unique_ptr<core::Backend> make_identity_backend(const Clock* clock, Timer* timer);

}  // namespace proa::backends
