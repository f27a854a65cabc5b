# The headers that nearly every file includes are compiled once for all libraries and once for all test
# programs: a third of a cold build.
add_library(proa_precompiled OBJECT "${CMAKE_CURRENT_LIST_DIR}/precompiled.cc")
target_link_libraries(proa_precompiled PRIVATE fmt::fmt)
# Found through the include path, so that what is compiled is the same in every checkout (ccache).
target_include_directories(proa_precompiled PRIVATE "${CMAKE_CURRENT_LIST_DIR}")
target_compile_options(proa_precompiled PRIVATE ${PROA_LIBRARY_OPTIONS})
target_precompile_headers(proa_precompiled PRIVATE <precompiled.h>)
if(PROA_BUILD_TESTS)
  # Tests run for seconds and are compiled for minutes: only what they test is optimised.
  set(PROA_TEST_OPTIONS -O0)
  add_executable(proa_test_precompiled EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/precompiled.cc")
  target_link_libraries(proa_test_precompiled PRIVATE fmt::fmt GTest::gmock)
  target_include_directories(proa_test_precompiled PRIVATE "${CMAKE_CURRENT_LIST_DIR}")
  target_compile_options(proa_test_precompiled PRIVATE ${PROA_TEST_OPTIONS})
  target_precompile_headers(proa_test_precompiled PRIVATE <precompiled.h> <gmock/gmock.h> <gtest/gtest.h>)
endif()

# Where tests find the files of the checkout.
if(PROA_BUILD_TESTS)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/source_path.cc.in" "${PROJECT_BINARY_DIR}/source_path.cc" @ONLY)
  add_library(proa_leak_suppressions OBJECT EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/leak_suppressions.cc")
  add_library(proa_source_path STATIC "${PROJECT_BINARY_DIR}/source_path.cc")
  target_include_directories(proa_source_path PUBLIC "${PROJECT_SOURCE_DIR}/src")
endif()

# proa_library(NAME SOURCES a.cc... [DEPS target...]): the static library of one room of src/.
# DEPS are public. Includes are written from src/ ("base/result.h").
function(proa_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
  target_compile_options(${name} PRIVATE ${PROA_LIBRARY_OPTIONS})
  target_precompile_headers(${name} REUSE_FROM proa_precompiled)
endfunction()

# proa_test(NAME SOURCES a_test.cc... DEPS target... [LABEL unit]): one test program; each TEST becomes a ctest.
function(proa_test name)
  if(NOT PROA_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} proa_source_path GTest::gmock GTest::gtest_main)
  if(PROA_SANITIZER MATCHES "address")
    target_link_libraries(${name} PRIVATE proa_leak_suppressions)
  endif()
  target_compile_options(${name} PRIVATE ${PROA_TEST_OPTIONS})
  target_precompile_headers(${name} REUSE_FROM proa_test_precompiled)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 120)
endfunction()

# proa_bench(NAME SOURCES a_bench.cc... DEPS target...): one Google Benchmark program, not run by ctest.
function(proa_bench name)
  if(NOT PROA_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} benchmark::benchmark_main)
endfunction()
