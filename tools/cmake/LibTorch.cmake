# trainbench::torch: LibTorch from the pip wheel as our own imported target.
# find_package(Torch) is avoided: it probes a GPU for architectures and appends
# ones that nvcc 13 rejects to the global CUDA flags.
set(TRAINBENCH_PYTHON "${CMAKE_SOURCE_DIR}/.venv/bin/python"
    CACHE FILEPATH "Python whose site-packages hold torch")

execute_process(
  COMMAND
    "${TRAINBENCH_PYTHON}" -c
    "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
  OUTPUT_VARIABLE TORCH_ROOT
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
  RESULT_VARIABLE torch_status)
if(NOT torch_status EQUAL 0 OR NOT EXISTS "${TORCH_ROOT}/lib/libtorch.so")
  message(FATAL_ERROR "LibTorch not found through ${TRAINBENCH_PYTHON}. "
                      "Run tools/setup, or set -DTRAINBENCH_PYTHON=<python with torch>.")
endif()

add_library(trainbench_torch INTERFACE)
add_library(trainbench::torch ALIAS trainbench_torch)
target_include_directories(
  trainbench_torch SYSTEM
  INTERFACE "${TORCH_ROOT}/include"
            "${TORCH_ROOT}/include/torch/csrc/api/include")
target_link_libraries(trainbench_torch INTERFACE "${TORCH_ROOT}/lib/libtorch_cpu.so"
                                                 "${TORCH_ROOT}/lib/libc10.so")
if(TRAINBENCH_CUDA)
  target_include_directories(trainbench_torch SYSTEM
                             INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
  # The CUDA library registers itself when it is loaded and the program names no
  # symbol of it, so the linker would drop it. libcuda is never linked: a binary
  # that needs it dies before main on a machine without a driver.
  target_link_libraries(
    trainbench_torch
    INTERFACE -Wl,--no-as-needed "${TORCH_ROOT}/lib/libtorch.so"
              "${TORCH_ROOT}/lib/libtorch_cuda.so"
              "${TORCH_ROOT}/lib/libc10_cuda.so" -Wl,--as-needed CUDA::cudart)
endif()
list(APPEND CMAKE_BUILD_RPATH "${TORCH_ROOT}/lib")
