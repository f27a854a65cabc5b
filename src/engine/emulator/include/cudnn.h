// Types that our own kernels' makers name, for the emulator.
#pragma once

using cudnnHandle_t = struct cudnnContext*;
enum cudnnStatus_t { CUDNN_STATUS_SUCCESS = 0 };
