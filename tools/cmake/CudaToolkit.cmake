# The CUDA toolkit, for this project and for projects that use it as a package.

# LibTorch uses the shared runtime; an additional static one would be a second set of
# contexts and streams.
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
if(CMAKE_VERSION VERSION_LESS 3.26 AND NOT TARGET CUDA::nvToolsExt)
  # CMake 3.25 sets a property of this target, but CUDA 13 no longer has it.
  add_library(CUDA::nvToolsExt INTERFACE IMPORTED)
endif()
find_package(CUDAToolkit REQUIRED)
