#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <string_view>

#include "base/result.h"

namespace proa::engine::cuda {

// What a CUDA, cuDNN or cuBLASLt call returned, as a Status that quotes it: kResourceExhausted when
// memory ran out, kUnavailable when the device or driver is missing or broken, else kInternal.
Status cuda_status(cudaError_t code, std::string_view call);
Status cudnn_status(cudnnStatus_t code, std::string_view call);
Status cublas_status(cublasStatus_t code, std::string_view call);

// kResourceExhausted: `what`, and how much memory of the current device is free.
Error out_of_memory_error(std::string_view what);

}  // namespace proa::engine::cuda

// Calls and returns the Error to the caller, if it is one.
#define PROA_CUDA(call) PROA_TRY(::proa::engine::cuda::cuda_status((call), #call))
#define PROA_CUDNN(call) PROA_TRY(::proa::engine::cuda::cudnn_status((call), #call))
#define PROA_CUBLAS(call) PROA_TRY(::proa::engine::cuda::cublas_status((call), #call))
