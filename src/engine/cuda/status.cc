#include "engine/cuda/status.h"

#include <array>

namespace proa::engine::cuda {
namespace {

// "cudaMemcpyAsync(a, b)" -> "cudaMemcpyAsync": arguments say nothing to a user.
std::string_view function_of(std::string_view call) { return call.substr(0, call.find('(')); }

}  // namespace

Status cuda_status(cudaError_t code, std::string_view call) {
  if (code == cudaSuccess) return {};
  (void)cudaGetLastError();  // a failed call must not be reported by the next one
  const std::string_view function = function_of(call);
  switch (code) {
    case cudaErrorMemoryAllocation:
      return error::resource_exhausted("{}: {}", function, cudaGetErrorString(code));
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
      return error::unavailable(
          "{}: {}; install an NVIDIA driver of version 580 or later, and check with nvidia-smi",
          function, cudaGetErrorString(code));
    // After these every later call of the process fails.
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorMisalignedAddress:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
      return error::unavailable("{}: {}", function, cudaGetErrorString(code));
    default:
      return error::internal("{}: {}", function, cudaGetErrorString(code));
  }
}

Status cudnn_status(cudnnStatus_t code, std::string_view call) {
  if (code == CUDNN_STATUS_SUCCESS) return {};
  std::array<char, 256> more{};  // what cuDNN says of its last error, if anything
  cudnnGetLastErrorString(more.data(), more.size());
  return error::internal("{}: {}{}{}", function_of(call), cudnnGetErrorString(code),
                         more[0] != 0 ? ": " : "", more.data());
}

Status cublas_status(cublasStatus_t code, std::string_view call) {
  if (code == CUBLAS_STATUS_SUCCESS) return {};
  return error::internal("{}: {}", function_of(call), cublasLtGetStatusString(code));
}

}  // namespace proa::engine::cuda
