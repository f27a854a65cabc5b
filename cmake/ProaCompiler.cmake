# Language level, warnings and sanitizers for every target of the project.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")

# Options of the C++ compiler only; nvcc, where there is one, passes on its own.
function(proa_cxx_options)
  foreach(option ${ARGN})
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${option}>" "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${option}>")
  endforeach()
endfunction()
proa_cxx_options(-Wall -Wextra -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++ 12 calls what it marks as deprecated itself, inside std::stable_sort.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wthread-safety>
                      $<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
  # ccache keeps what was compiled with precompiled headers only when these hold no times.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 believes that moved strings and Shapes (Boost's small_vector) leave their inline part, and that
  # strings made of literals overlap themselves.
  foreach(warning array-bounds stringop-overflow stringop-overread restrict)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-${warning}>)
  endforeach()
endif()
option(PROA_WERROR "Warnings are errors" ON)
if(PROA_WERROR)
  proa_cxx_options(-Werror)
endif()

if(PROA_SANITIZER)
  if(PROA_FUZZ)
    # What fuzzers follow; tests are not compiled with it (a fifth of their time).
    set(PROA_LIBRARY_OPTIONS -fsanitize=fuzzer-no-link)
  endif()
  add_compile_options(-fsanitize=${PROA_SANITIZER} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${PROA_SANITIZER})
endif()

find_program(PROA_CCACHE ccache)
if(PROA_CCACHE)
  # Paths relative to the checkout, so that several checkouts share one cache; what to look up is told by
  # the compiler's list of headers, which spares a second preprocessing (a tenth of a cold build).
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${PROA_CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
find_program(PROA_MOLD mold)
if(PROA_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
