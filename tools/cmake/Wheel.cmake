# Describes the wheels that tools/setup installed: TORCH_ROOT, the folder of LibTorch;
# TRAINBENCH_WHEEL_CUDA, their CUDA toolkit, or empty; TRAINBENCH_CPU_WHEEL, whether the
# dependencies of LibTorch's CUDA library are missing.
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

cmake_path(GET TRAINBENCH_PYTHON PARENT_PATH environment)
cmake_path(GET environment PARENT_PATH environment)
set(TRAINBENCH_CPU_WHEEL OFF)
set(TRAINBENCH_WHEEL_CUDA "")
if(EXISTS "${environment}/.trainbench-stamp")
  file(STRINGS "${environment}/.trainbench-stamp" kind LIMIT_COUNT 1)
  if(kind MATCHES "^cpu ")
    set(TRAINBENCH_CPU_WHEEL ON)
  elseif(kind MATCHES "^full ")
    cmake_path(SET TRAINBENCH_WHEEL_CUDA NORMALIZE "${TORCH_ROOT}/../nvidia/cu13")
  endif()
endif()
