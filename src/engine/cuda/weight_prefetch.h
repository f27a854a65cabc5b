#pragma once

#include <span>

#include "engine/cuda/device.h"
#include "engine/cuda/kernels/kernels.h"

namespace proa::engine::cuda {

// Brings the weights of later steps into the cache while earlier ones compute, on a stream beside
// theirs: a network's weights are more than the cache keeps from one run to the next, and the
// kernels of a small batch wait for memory more than they compute.
class WeightPrefetch {
 public:
  struct Weights {
    const void* data;
    std::size_t bytes;
  };
  // `ahead` bytes before they are wanted, `together` at least at a time.
  WeightPrefetch(cudaStream_t side, cudaEvent_t event, std::size_t ahead, std::size_t together)
      : side_(side), event_(event), ahead_(ahead), together_(together) {}

  // In the order of the steps, all before the first of the calls below.
  void add(std::span<const Weights> weights_of_step);

  // Before step `i` is put on `stream`.
  Status before(std::size_t i, cudaStream_t stream);
  // After the last.
  Status join(cudaStream_t stream);

 private:
  cudaStream_t side_;
  cudaEvent_t event_;
  std::size_t ahead_, together_;
  std::vector<Weights> all_;
  std::vector<std::size_t> begins_;  // bytes before the weights of each step
  std::size_t total_ = 0, asked_bytes_ = 0, asked_ = 0;
  bool forked_ = false;
};

}  // namespace proa::engine::cuda
