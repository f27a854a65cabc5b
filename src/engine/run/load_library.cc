#include "engine/run/load_library.h"

#include <dlfcn.h>

#include "fmt/core.h"

namespace proa::engine {
namespace {

struct Package {
  std::string_view library;  // how its file name begins
  std::string_view what;
};
constexpr Package kPackages[] = {
    {"libcudnn", "cuDNN 9 for CUDA 13 (pip: nvidia-cudnn-cu13)"},
    {"libcublas", "cuBLAS of CUDA 13 (pip: nvidia-cublas)"},
    {"libcudart", "the CUDA 13 runtime (pip: nvidia-cuda-runtime)"},
    {"libnvrtc", "NVRTC of CUDA 13 (pip: nvidia-cuda-nvrtc)"},
};

}  // namespace

std::string explain_load_failure(const std::filesystem::path& library, std::string_view reason) {
  for (const Package& package : kPackages) {
    if (!reason.starts_with(package.library)) continue;
    return fmt::format(
        "the GPU engine needs {}: install it, and name its folder in LD_LIBRARY_PATH if it is not "
        "in a standard place ({})",
        package.what, reason);
  }
  if (reason.starts_with(library.native())) {
    return fmt::format(
        "this installation has no GPU engine: put {} beside the program's other libraries, or "
        "build with -DPROA_CUDA=ON ({})",
        library.filename().native(), reason);
  }
  return fmt::format("the GPU engine cannot be loaded: {}", reason);
}

Result<DeviceEngine*> load_device_engine(const std::filesystem::path& library) {
  const auto failure = [&]() -> Error {
    const char* reason = dlerror();
    return error::unavailable("{}", explain_load_failure(library, reason == nullptr ? "" : reason));
  };
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return failure();
  const auto function = reinterpret_cast<EngineFunction>(dlsym(handle, kEngineSymbol));
  if (function == nullptr) return failure();
  DeviceEngine* engine = function(kEngineInterface);
  if (engine == nullptr) {
    return error::unavailable("{} is of another version of proa: install both from one build",
                              library.native());
  }
  return engine;
}

}  // namespace proa::engine
