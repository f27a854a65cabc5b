#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "core/request.h"
#include "core/testing/requests.h"

namespace proa::core {

// What became of many requests, which are known by their numbers; request n sends the value n.
// Threading: the counters may be read and written on any thread.
struct Tally {
  std::vector<std::atomic<int>> finals;  // by request
  std::atomic<int> wrong = 0;            // answers without rows, or with somebody else's
  std::atomic<int> succeeded = 0;        // responses without an error
  std::atomic<int> open;                 // requests without their final answer

  explicit Tally(std::size_t requests) : finals(requests), open(static_cast<int>(requests)) {}
  void wait() {
    for (int left = open.load(); left > 0; left = open.load()) open.wait(left);
  }
};

class TallySink final : public ResponseSink {
 public:
  TallySink(Tally& tally, std::size_t index) : tally_(tally), index_(index) {}
  void send(Response response, bool final) override {
    if (!response.error) count_success(response);
    if (!final) return;
    ++tally_.finals[index_];
    if (--tally_.open == 0) tally_.open.notify_all();
  }

 private:
  void count_success(const Response& response) {
    ++tally_.succeeded;
    if (response.outputs.empty()) ++tally_.wrong;
    for (const Tensor& output : response.outputs) {
      if (floats(output)[0] != static_cast<float>(index_)) ++tally_.wrong;
    }
  }

  Tally& tally_;
  const std::size_t index_;
};

}  // namespace proa::core
