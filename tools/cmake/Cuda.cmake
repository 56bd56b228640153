# CUDA is compiled whenever nvcc is there; the binary still runs without a GPU.
# CMAKE_CUDA_ARCHITECTURES must be set before the language is enabled, because
# "native" needs a GPU and CMake's own default is an architecture we never use.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES "80;90" CACHE STRING "CUDA architectures")
endif()

include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  # After enable_language: before it, CMake tests the compiler with a standard
  # that it does not know yet.
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  find_package(CUDAToolkit REQUIRED)
  set(TRAINBENCH_CUDA ON)
  target_compile_definitions(trainbench_options INTERFACE TRAINBENCH_CUDA=1)
else()
  set(TRAINBENCH_CUDA OFF)
  message(STATUS "trainbench: no nvcc, building for the CPU only")
endif()
