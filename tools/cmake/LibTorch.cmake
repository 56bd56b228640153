# trainbench::torch: LibTorch from the pip wheel as our own imported target.
# find_package(Torch) is avoided: it probes a GPU for architectures and appends some
# that nvcc 13 rejects to the global CUDA flags.
# The target is imported so that other projects can use it, too (Package.cmake).
if(NOT TARGET trainbench::torch)
  add_library(trainbench::torch INTERFACE IMPORTED GLOBAL)
  target_include_directories(
    trainbench::torch SYSTEM
    INTERFACE "${TORCH_ROOT}/include"
              "${TORCH_ROOT}/include/torch/csrc/api/include")
  target_link_libraries(trainbench::torch INTERFACE "${TORCH_ROOT}/lib/libtorch_cpu.so"
                                                   "${TORCH_ROOT}/lib/libc10.so")
  if(TRAINBENCH_CUDA)
    target_include_directories(trainbench::torch SYSTEM
                               INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
    # The CUDA library registers itself when it is loaded, and the program references
    # none of its symbols, so the linker would drop it. libcuda is never linked: a
    # binary that needs it fails before main on a machine without a driver.
    target_link_libraries(
      trainbench::torch
      INTERFACE -Wl,--no-as-needed "${TORCH_ROOT}/lib/libtorch.so"
                "${TORCH_ROOT}/lib/libtorch_cuda.so"
                "${TORCH_ROOT}/lib/libc10_cuda.so" -Wl,--as-needed CUDA::cudart)
  endif()
endif()
list(APPEND CMAKE_BUILD_RPATH "${TORCH_ROOT}/lib")
# An installed program finds LibTorch and the CUDA runtime at their current paths. CMake
# itself adds only paths outside of the project, and .venv is inside.
list(APPEND CMAKE_INSTALL_RPATH "${TORCH_ROOT}/lib")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
