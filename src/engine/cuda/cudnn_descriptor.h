#pragma once

#include <cudnn.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace proa::engine::cuda {

// One object of cuDNN's backend interface: attributes are set, then finalize() checks them all. The
// first attribute that cuDNN refuses is remembered and reported by finalize().
// Source: cuDNN 9 documentation, "Backend API"; cudnn_graph_v9.h.
class CudnnDescriptor {
 public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);

  CudnnDescriptor& set(cudnnBackendAttributeName_t name, std::span<const std::int64_t> numbers);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, std::int64_t number);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, const CudnnDescriptor& other);
  CudnnDescriptor& set(cudnnBackendAttributeName_t name,
                       std::span<const CudnnDescriptor* const> others);
  // Any other type: `type` must be cuDNN's name for T.
  template <class T>
  CudnnDescriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                       const T& value) {
    return set_raw(name, type, 1, &value);
  }
  CudnnDescriptor& set_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                           std::int64_t count, const void* values);

  // Errors: kInternal with cuDNN's reason and `what` the object is.
  Status finalize(std::string_view what);

  // Reads one value of a finalized descriptor.
  template <class T>
  Result<T> get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const {
    T value{};
    PROA_TRY(get_raw(name, type, 1, &value));
    return value;
  }
  // Reads a list of descriptors of kind `type`.
  Result<std::vector<CudnnDescriptor>> get_list(cudnnBackendAttributeName_t name,
                                                cudnnBackendDescriptorType_t type,
                                                std::int64_t most) const;
  cudnnBackendDescriptor_t get() const { return descriptor_.get(); }

 private:
  Status get_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                 std::int64_t count, void* values) const;

  struct Destroy {
    void operator()(void* descriptor) const { (void)cudnnBackendDestroyDescriptor(descriptor); }
  };
  std::unique_ptr<void, Destroy> descriptor_;
  cudnnStatus_t first_failure_ = CUDNN_STATUS_SUCCESS;
  int failed_attribute_ = 0;
};

}  // namespace proa::engine::cuda
