# PROA_CUDA: AUTO (default) builds the GPU side when nvcc and the cuDNN headers are there, ON insists,
# OFF leaves it out. Only libproa_cuda.so and its checks depend on it; `proa` never links CUDA.
set(PROA_CUDA "AUTO" CACHE STRING "Build the GPU side: AUTO, ON or OFF")
set(PROA_CUDA_ARCHITECTURES "80-real;90-real;90-virtual" CACHE STRING "GPU architectures of our own kernels")
set(PROA_CUDA_FOUND OFF)
# Its C++ alone is compiled, for the compiler's checks: sanitizers do not know the GPU.
set(PROA_CUDA_CHECK OFF)
if(PROA_CUDA)
  find_program(PROA_NVCC nvcc HINTS /usr/local/cuda/bin)
  get_filename_component(PROA_CUDA_ROOT "${PROA_NVCC}" DIRECTORY)
  get_filename_component(PROA_CUDA_ROOT "${PROA_CUDA_ROOT}" DIRECTORY)
  find_path(PROA_CUDNN_INCLUDE cudnn.h HINTS "${PROA_CUDA_ROOT}/include")
  set(libraries "${PROA_CUDA_ROOT}/lib" "${PROA_CUDA_ROOT}/lib64")
  find_library(PROA_CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 HINTS ${libraries})
  find_library(PROA_CUBLASLT_LIBRARY NAMES cublasLt libcublasLt.so.13 HINTS ${libraries})
  find_library(PROA_CUDART_LIBRARY NAMES cudart libcudart.so.13 HINTS ${libraries})
  if(PROA_NVCC AND PROA_CUDNN_INCLUDE AND PROA_CUDNN_LIBRARY AND PROA_CUBLASLT_LIBRARY AND
     PROA_CUDART_LIBRARY)
    if(PROA_SANITIZER)
      set(PROA_CUDA_CHECK ON)
    else()
      set(PROA_CUDA_FOUND ON)
    endif()
  elseif(NOT PROA_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "PROA_CUDA is ON, but nvcc, cuDNN 9 or cuBLASLt is missing: install the CUDA "
                        "13 toolkit and cuDNN 9, or configure with -DPROA_CUDA=OFF.")
  endif()
endif()

if(PROA_CUDA_FOUND OR PROA_CUDA_CHECK)
  add_library(proa_cuda_libraries INTERFACE)
  target_include_directories(proa_cuda_libraries SYSTEM INTERFACE
    "${PROA_CUDA_ROOT}/include" "${PROA_CUDNN_INCLUDE}")
  target_link_libraries(proa_cuda_libraries INTERFACE
    "${PROA_CUDNN_LIBRARY}" "${PROA_CUBLASLT_LIBRARY}" "${PROA_CUDART_LIBRARY}")
endif()
if(PROA_CUDA_FOUND)
  set(CMAKE_CUDA_COMPILER "${PROA_NVCC}")
  set(CMAKE_CUDA_ARCHITECTURES ${PROA_CUDA_ARCHITECTURES})
  enable_language(CUDA)
  # CMake 3.25 does not know that nvcc 13 takes C++20.
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_EXTENSIONS OFF)
endif()
message(STATUS "GPU side (PROA_CUDA=${PROA_CUDA}): ${PROA_CUDA_FOUND}")
