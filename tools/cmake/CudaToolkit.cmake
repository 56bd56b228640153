# The CUDA toolkit, for this project and for those that use it as a package.

# LibTorch brings the shared runtime; a static one beside it would be a second set of
# contexts and streams.
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
if(CMAKE_VERSION VERSION_LESS 3.26 AND NOT TARGET CUDA::nvToolsExt)
  # CMake 3.25 sets a property of it, but CUDA 13 has it no more.
  add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
endif()
find_package(CUDAToolkit REQUIRED)
