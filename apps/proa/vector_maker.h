#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "core/model.h"
#include "core/request.h"

namespace proa {

// Turns encoded pictures into vectors by a model that takes them as BYTES, many at a time.
// Threading: confined to one thread; answers come on others and wait inside.
class VectorMaker {
 public:
  struct Answer {
    std::size_t tag = 0;  // what start() was given
    Result<std::vector<float>> vector;
  };

  // `input` and `output`: names, "" = the only one that fits.
  // Errors: kInvalidArgument telling which inputs and outputs the model has, when it has none of
  // one BYTES element and of FP32 values.
  static Result<VectorMaker> create(std::shared_ptr<core::Model> model, const std::string& input,
                                    const std::string& output);

  // Sends a picture; its answer comes out of wait().
  // Errors: those of building the request.
  Status start(std::size_t tag, std::string_view picture);
  // The next answer; call it only with in_flight() > 0.
  Answer wait();
  std::size_t in_flight() const { return in_flight_; }
  // Picture, model and version, in one line: vectors of another source are not comparable.
  std::string source() const;

 private:
  struct Inbox {
    Mutex mutex;
    CondVar came;
    std::vector<std::pair<std::size_t, core::Response>> answers PROA_GUARDED_BY(mutex);
  };
  class Sink;

  VectorMaker() = default;
  Result<std::vector<float>> vector_of(core::Response response) const;

  std::shared_ptr<core::Model> model_;
  std::size_t input_ = 0;
  std::size_t output_ = 0;
  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  std::size_t in_flight_ = 0;
};

}  // namespace proa
