#include "engine/cuda/cudnn_descriptor.h"

#include <algorithm>

#include "engine/cuda/status.h"

namespace proa::engine::cuda {

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  cudnnBackendDescriptor_t descriptor = nullptr;
  first_failure_ = cudnnBackendCreateDescriptor(type, &descriptor);
  descriptor_.reset(descriptor);
}

CudnnDescriptor& CudnnDescriptor::set_raw(cudnnBackendAttributeName_t name,
                                          cudnnBackendAttributeType_t type, std::int64_t count,
                                          const void* values) {
  if (first_failure_ != CUDNN_STATUS_SUCCESS) return *this;
  first_failure_ = cudnnBackendSetAttribute(descriptor_.get(), name, type, count, values);
  failed_attribute_ = static_cast<int>(name);
  return *this;
}

CudnnDescriptor& CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                                      std::span<const std::int64_t> numbers) {
  return set_raw(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(numbers.size()), numbers.data());
}

CudnnDescriptor& CudnnDescriptor::set(cudnnBackendAttributeName_t name, std::int64_t number) {
  return set_raw(name, CUDNN_TYPE_INT64, 1, &number);
}

CudnnDescriptor& CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                                      const CudnnDescriptor& other) {
  const cudnnBackendDescriptor_t descriptor = other.get();
  return set_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &descriptor);
}

CudnnDescriptor& CudnnDescriptor::set(cudnnBackendAttributeName_t name,
                                      std::span<const CudnnDescriptor* const> others) {
  std::vector<cudnnBackendDescriptor_t> descriptors;
  for (const CudnnDescriptor* other : others) descriptors.push_back(other->get());
  return set_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(descriptors.size()),
                 descriptors.data());
}

Status CudnnDescriptor::finalize(std::string_view what) {
  if (first_failure_ != CUDNN_STATUS_SUCCESS) {
    return error::internal("cuDNN {}: attribute {}: {}", what, failed_attribute_,
                           cudnnGetErrorString(first_failure_));
  }
  const cudnnStatus_t status = cudnnBackendFinalize(descriptor_.get());
  if (status == CUDNN_STATUS_SUCCESS) return {};
  return error::internal("cuDNN {}: {}", what, cudnnGetErrorString(status));
}

Status CudnnDescriptor::get_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                std::int64_t count, void* values) const {
  std::int64_t found = 0;
  PROA_CUDNN(cudnnBackendGetAttribute(descriptor_.get(), name, type, count, &found, values));
  return {};
}

Result<std::vector<CudnnDescriptor>> CudnnDescriptor::get_list(cudnnBackendAttributeName_t name,
                                                               cudnnBackendDescriptorType_t type,
                                                               std::int64_t most) const {
  std::vector<CudnnDescriptor> list;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (std::int64_t i = 0; i < most; ++i) {
    list.emplace_back(type);
    raw.push_back(list.back().get());
  }
  std::int64_t found = 0;
  PROA_CUDNN(cudnnBackendGetAttribute(descriptor_.get(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most,
                                      &found, raw.data()));
  list.erase(list.begin() + std::min(found, most), list.end());
  return list;
}

}  // namespace proa::engine::cuda
