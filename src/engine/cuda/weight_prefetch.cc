#include "engine/cuda/weight_prefetch.h"

#include "engine/cuda/status.h"

namespace proa::engine::cuda {

void WeightPrefetch::add(std::span<const Weights> weights_of_step) {
  begins_.push_back(total_);
  for (const Weights& each : weights_of_step) {
    all_.push_back(each);
    total_ += each.bytes;
  }
}

Status WeightPrefetch::before(std::size_t i, cudaStream_t stream) {
  const std::size_t wanted = begins_[i] + ahead_;
  if (asked_ == all_.size() || wanted < asked_bytes_ + together_) return {};
  PROA_CUDA(cudaEventRecord(event_, stream));
  PROA_CUDA(cudaStreamWaitEvent(side_, event_, 0));
  forked_ = true;
  PrefetchRanges ranges;
  while (asked_ < all_.size() && asked_bytes_ < wanted && ranges.count < PrefetchRanges::kMost) {
    const Weights& each = all_[asked_++];
    ranges.begin[ranges.count] = static_cast<const std::byte*>(each.data);
    ranges.bytes[ranges.count++] = each.bytes;
    asked_bytes_ += each.bytes;
  }
  PROA_CUDA(launch_prefetch(ranges, side_));
  return {};
}

Status WeightPrefetch::join(cudaStream_t stream) {
  if (!forked_) return {};
  PROA_CUDA(cudaEventRecord(event_, side_));
  PROA_CUDA(cudaStreamWaitEvent(stream, event_, 0));
  return {};
}

}  // namespace proa::engine::cuda
