# System packages first, so that an offline machine never downloads; otherwise
# sources pinned by commit. With TRAINBENCH_STATIC_DEPS Google Benchmark always
# comes from source, because Debian ships no static library of it.
# FETCHCONTENT_SOURCE_DIR_<NAME> points a build at sources that are already here.
include(FetchContent)

set(BENCHMARK_ENABLE_TESTING OFF)
set(BENCHMARK_ENABLE_GTEST_TESTS OFF)
set(BENCHMARK_ENABLE_INSTALL OFF)
set(BENCHMARK_ENABLE_WERROR OFF)
set(INSTALL_GTEST OFF)
set(ABSL_PROPAGATE_CXX_STD ON)
set(ABSL_ENABLE_INSTALL OFF)
set(BUILD_SHARED_LIBS OFF)

if(TRAINBENCH_STATIC_DEPS)
  set(benchmark_source "")
else()
  set(benchmark_source FIND_PACKAGE_ARGS 1.7.1)
endif()

FetchContent_Declare(
  benchmark
  GIT_REPOSITORY https://github.com/google/benchmark.git
  GIT_TAG 192ef10025eb2c4cdd392bc502f0c852196baa48 # v1.9.5
  ${benchmark_source})
FetchContent_Declare(
  googletest
  GIT_REPOSITORY https://github.com/google/googletest.git
  GIT_TAG 52eb8108c5bdec04579160ae17225d66034bd723 # v1.17.0
  FIND_PACKAGE_ARGS NAMES GTest)
FetchContent_Declare(
  absl
  GIT_REPOSITORY https://github.com/abseil/abseil-cpp.git
  GIT_TAG d38452e1ee03523a208362186fd42248ff2609f6 # 20250814.1
  FIND_PACKAGE_ARGS)
FetchContent_Declare(
  nlohmann_json
  GIT_REPOSITORY https://github.com/nlohmann/json.git
  GIT_TAG 9cca280a4d0ccf0c08f47a99aa71d1b0e52f8d03 # v3.11.3
  FIND_PACKAGE_ARGS 3.11)

FetchContent_MakeAvailable(absl benchmark nlohmann_json)
if(TRAINBENCH_BUILD_TESTS)
  FetchContent_MakeAvailable(googletest)
endif()

if(TRAINBENCH_STATIC_DEPS AND absl_FOUND)
  # Debian's package holds both; its CMake targets name the shared libraries.
  get_property(absl_targets DIRECTORY "${CMAKE_SOURCE_DIR}" PROPERTY IMPORTED_TARGETS)
  list(FILTER absl_targets INCLUDE REGEX "^absl::")
  foreach(target IN LISTS absl_targets)
    get_target_property(location ${target} IMPORTED_LOCATION_NONE)
    if(location MATCHES "\\.so")
      string(REGEX REPLACE "\\.so.*$" ".a" archive "${location}")
      set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_NONE "${archive}")
    endif()
  endforeach()
endif()
