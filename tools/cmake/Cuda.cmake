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
  # CMake 3.25 knows no later standard for nvcc. It suffices: kernels include no
  # LibTorch header (and nvcc would misparse some of them in C++17).
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  # LibTorch brings the shared runtime; a static one beside it would be a second
  # set of contexts and streams.
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
  find_package(CUDAToolkit REQUIRED)
  set(TRAINBENCH_CUDA ON)
  target_compile_definitions(trainbench_options INTERFACE TRAINBENCH_CUDA=1)
else()
  set(TRAINBENCH_CUDA OFF)
  message(STATUS "trainbench: no nvcc, building for the CPU only")
endif()
