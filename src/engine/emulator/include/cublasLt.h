// Types that our own kernels' makers name, for the emulator.
#pragma once

using cublasLtHandle_t = struct cublasLtContext*;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0 };
