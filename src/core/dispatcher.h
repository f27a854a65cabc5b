#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"
#include "core/request.h"

namespace proa::core {

// Whether the caller of infer() may be kept for the computation of a kInline model.
enum class Caller : std::uint8_t {
  kMayCompute,
  kIsBusy,  // it has computed enough in a row: an instance's own thread takes over
};

// Takes the requests of one model and sees to it that each is answered: by the model's own
// instances (Scheduler), or by other models (Ensemble). Made and owned by Model, which says what
// callers may expect.
// Threading: thread-safe.
class Dispatcher {
 public:
  virtual ~Dispatcher() = default;

  // See Model::infer. The caller holds the model.
  virtual void submit(std::unique_ptr<Request> request, Caller caller) = 0;
  // See Model::shut_down.
  virtual void shut_down() = 0;
  // Nothing is in flight; what runs for the model ends. Comes last.
  virtual void stop() = 0;

  // Requests that have not been answered.
  virtual std::size_t in_flight() const = 0;

  // Nothing, or why requests cannot be answered now although the model is loaded.
  virtual Status health() const { return {}; }

  // The versions of other models that a request would be answered by, held until the last reference
  // goes; null when there are none. `depth` counts the ensembles around this one.
  virtual Result<std::shared_ptr<const Pin>> pin(int depth) const {
    static_cast<void>(depth);
    return std::shared_ptr<const Pin>();
  }
};

}  // namespace proa::core
