# CUDA is compiled with the nvcc of the wheels, or else with a toolkit of LibTorch's
# version: headers and libraries of other versions do not fit its wheel. The binary
# also runs without a GPU.
# CMAKE_CUDA_ARCHITECTURES must be set before the language is enabled, because
# "native" needs a GPU, and we never use CMake's default architecture. A GPU that is
# newer than all of them compiles the PTX of the last one.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES "80-real;90-real;90-virtual"
      CACHE STRING "CUDA architectures")
endif()

set(TRAINBENCH_CUDA OFF)
if(TRAINBENCH_CPU_WHEEL)
  set(trainbench_no_cuda "LibTorch was installed for the CPU only")
elseif(TRAINBENCH_WHEEL_CUDA)
  set(CMAKE_CUDA_COMPILER "${TRAINBENCH_WHEEL_CUDA}/bin/nvcc")
  set(TRAINBENCH_CUDA ON)
else()
  include(CheckLanguage)
  check_language(CUDA)
  set(trainbench_no_cuda "no nvcc of CUDA 13.0")
  if(CMAKE_CUDA_COMPILER)
    execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --version
                    OUTPUT_VARIABLE nvcc_version ERROR_QUIET)
    if(nvcc_version MATCHES "release 13\\.0,")
      set(TRAINBENCH_CUDA ON)
    endif()
  endif()
endif()

if(TRAINBENCH_CUDA)
  enable_language(CUDA)
  # CMake 3.25 knows no later standard for nvcc. C++17 suffices: kernels include no
  # LibTorch header (and nvcc would misparse some of them in C++17).
  set(CMAKE_CUDA_STANDARD 17)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  include(CudaToolkit)
  target_compile_definitions(trainbench_options INTERFACE TRAINBENCH_CUDA=1)
  message(STATUS "trainbench: CUDA ${CMAKE_CUDA_COMPILER_VERSION}: ${CMAKE_CUDA_COMPILER}")
else()
  message(STATUS "trainbench: ${trainbench_no_cuda}, building for the CPU only")
endif()
