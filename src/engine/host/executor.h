#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "engine/host/reference.h"
#include "engine/plan/plan.h"

namespace proa::engine {

// Runs a plan on the host: the same steps over the same storage as on the GPU, each by its
// reference. So passes, layouts and memory planning of whole networks are checked without a GPU.
// `plan` must outlive it. Threading: confined to one thread.
class HostExecutor {
 public:
  explicit HostExecutor(const Plan& plan);

  // Dense bytes of each graph input and output, in the graph's order. Errors: kInvalidArgument
  // when a count or size is not the plan's.
  Status run(std::span<const std::span<const std::byte>> inputs,
             std::span<const std::span<std::byte>> outputs);

 private:
  std::span<std::byte> bytes_of(ValueId id, std::span<const std::span<std::byte>> outputs);
  std::span<const std::byte> read_bytes(ValueId id,
                                        std::span<const std::span<const std::byte>> inputs,
                                        std::span<const std::span<std::byte>> outputs);
  HostTensor read(ValueId id, std::span<const std::span<const std::byte>> inputs,
                  std::span<const std::span<std::byte>> outputs);

  const Plan& plan_;
  std::vector<std::byte> arena_;
  std::vector<HostTensor> constants_;  // by value, read once
};

}  // namespace proa::engine
