// SPDX-License-Identifier: MIT
// Launches kernels. Libraries' kernels have no code here, only a name.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_STREAMS_LAUNCH_H_
#define TRAINBENCH_TOOLS_NULL_GPU_STREAMS_LAUNCH_H_

#include <cuda_runtime_api.h>

#include <string_view>

#include "tools/null_gpu/streams/operation.h"

namespace null_gpu {

// Checks and enqueues a kernel. Without `accesses`, its arguments define them;
// without `work`, the work that the program has stated counts (duration.h).
cudaError_t LaunchKernel(Kernel* kernel, dim3 grid, dim3 block,
                         void** arguments, size_t shared_bytes,
                         cudaStream_t stream, Accesses accesses = {},
                         const Work& work = {});

// Enqueues a kernel of this name as a library would: with cuLaunchKernelEx of
// the driver if the library compiles it at run time ("nvjet...",
// "cudnn_generated..."), else with cudaLaunchKernelExC. The name should end in
// "_null", so that it cannot pass for the library's kernel.
cudaError_t LaunchOfLibrary(std::string_view name, dim3 grid, dim3 block,
                            cudaStream_t stream, Accesses accesses = {},
                            const Work& work = {});

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_STREAMS_LAUNCH_H_
