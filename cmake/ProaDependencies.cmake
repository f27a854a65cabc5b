# Every third-party library, found once. tools/setup.sh installs them.
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED MODULE)
find_package(fmt REQUIRED CONFIG)
find_package(spdlog REQUIRED CONFIG)
find_package(CLI11 REQUIRED CONFIG)
find_package(simdjson REQUIRED CONFIG)
find_package(prometheus-cpp REQUIRED CONFIG COMPONENTS core)
find_package(mimalloc REQUIRED CONFIG)
find_package(Boost 1.81 REQUIRED)
# Without its CMake package, which wants OpenMP of whatever compiler there is: Debian's libfaiss.a was
# made with g++ and needs g++'s libgomp.
find_library(PROA_FAISS faiss REQUIRED)
find_package(BLAS REQUIRED)
find_package(LAPACK REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(nghttp2 REQUIRED IMPORTED_TARGET libnghttp2)
# Not as "re2": gRPC's package would take that for CMake's own.
pkg_check_modules(libre2 REQUIRED IMPORTED_TARGET re2)
# Its -pthread defines a macro, which precompiled headers must have everywhere or nowhere; threads come
# from Threads::Threads.
set_target_properties(PkgConfig::libre2 PROPERTIES INTERFACE_COMPILE_OPTIONS "")
pkg_check_modules(turbojpeg REQUIRED IMPORTED_TARGET libturbojpeg)
pkg_check_modules(spng REQUIRED IMPORTED_TARGET spng)
pkg_check_modules(webp REQUIRED IMPORTED_TARGET libwebp)

# The OpenVINO wheel from PyPI carries its C++ headers and CMake package.
file(GLOB PROA_OPENVINO_ROOT "${PROA_VENV}/lib/python3*/site-packages/openvino")
if(NOT PROA_OPENVINO_ROOT)
  message(FATAL_ERROR "No OpenVINO in ${PROA_VENV}: run tools/setup.sh (or `make setup`) first.")
endif()
find_package(OpenVINO REQUIRED CONFIG PATHS "${PROA_OPENVINO_ROOT}/cmake" NO_DEFAULT_PATH
             COMPONENTS Runtime)

if(PROA_BUILD_TESTS)
  find_package(GTest REQUIRED CONFIG)
  find_package(benchmark REQUIRED CONFIG)
  include(GoogleTest)
endif()
