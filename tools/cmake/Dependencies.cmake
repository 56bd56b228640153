# System packages come first, so that an offline machine never downloads; otherwise
# sources are pinned by commit. FETCHCONTENT_SOURCE_DIR_<NAME> points a build to local
# sources.
include(FetchContent)

# The oldest supported versions, here and in packages of trainbench.
set(TRAINBENCH_BENCHMARK_VERSION 1.7.1)
set(TRAINBENCH_JSON_VERSION 3.11)

set(BENCHMARK_ENABLE_TESTING OFF)
set(BENCHMARK_ENABLE_GTEST_TESTS OFF)
set(BENCHMARK_ENABLE_INSTALL OFF)
set(BENCHMARK_ENABLE_WERROR OFF)
set(INSTALL_GTEST OFF)
set(ABSL_PROPAGATE_CXX_STD ON)
set(ABSL_ENABLE_INSTALL OFF)
set(BUILD_SHARED_LIBS OFF)

FetchContent_Declare(
  benchmark
  GIT_REPOSITORY https://github.com/google/benchmark.git
  GIT_TAG 192ef10025eb2c4cdd392bc502f0c852196baa48 # v1.9.5
  FIND_PACKAGE_ARGS ${TRAINBENCH_BENCHMARK_VERSION})
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
  FIND_PACKAGE_ARGS ${TRAINBENCH_JSON_VERSION})

FetchContent_MakeAvailable(absl benchmark nlohmann_json)
if(TRAINBENCH_BUILD_TESTS)
  FetchContent_MakeAvailable(googletest)
endif()
