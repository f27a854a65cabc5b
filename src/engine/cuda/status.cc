#include "engine/cuda/status.h"

#include <array>

#include "fmt/format.h"

namespace proa::engine::cuda {
namespace {

// "cudaMemcpyAsync(a, b)" -> "cudaMemcpyAsync": arguments say nothing to a user.
std::string_view function_of(std::string_view call) { return call.substr(0, call.find('(')); }

// A library only says that it failed; the device says whether that is its own end.
Error library_error(std::string_view call, std::string_view reason, bool out_of_memory) {
  std::size_t free = 0, total = 0;
  Status device = cuda_status(cudaMemGetInfo(&free, &total), call);
  if (!device && device.error().code == ErrorCode::kUnavailable) {
    return with_context(reason, std::move(device).error());
  }
  const std::string_view function = function_of(call);
  if (!out_of_memory) return error::internal("{}: {}", function, reason);
  return out_of_memory_error(fmt::format("{}: {}", function, reason));
}

}  // namespace

Error out_of_memory_error(std::string_view what) {
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) (void)cudaGetLastError();
  return error::resource_exhausted("{}; {:.1f} of {:.1f} MiB of GPU memory are free", what,
                                   static_cast<double>(free) / (1 << 20),
                                   static_cast<double>(total) / (1 << 20));
}

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
  const bool out_of_memory = code == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED ||
                             code == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
  return library_error(
      call, fmt::format("{}{}{}", cudnnGetErrorString(code), more[0] != 0 ? ": " : "", more.data()),
      out_of_memory);
}

Status cublas_status(cublasStatus_t code, std::string_view call) {
  if (code == CUBLAS_STATUS_SUCCESS) return {};
  return library_error(call, cublasLtGetStatusString(code), code == CUBLAS_STATUS_ALLOC_FAILED);
}

}  // namespace proa::engine::cuda
