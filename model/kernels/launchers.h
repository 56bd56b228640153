// SPDX-License-Identifier: MIT
// Enqueues kernels on a stream. The boundary to nvcc: LibTorch headers must not
// cross it.
//
// Each function returns "" or why it did not launch: the argument that its
// header does not allow, or CUDA's message with the kernel, its geometry and
// the GPU's limits. Pointers are device pointers. Launches are asynchronous and
// can be captured in a CUDA graph.

#ifndef TRAINBENCH_MODEL_KERNELS_LAUNCHERS_H_
#define TRAINBENCH_MODEL_KERNELS_LAUNCHERS_H_

#include <cuda_runtime_api.h>

#include <string>

#include "model/kernels/cross_entropy.h"
#include "model/kernels/flash/attention.h"
#include "model/kernels/rms_norm.h"
#include "model/kernels/rope.h"
#include "model/kernels/softmax.h"
#include "model/kernels/swiglu.h"

namespace trainbench::kernels {

std::string Launch(const RmsNormForwardArgs& args, cudaStream_t stream);
std::string Launch(const RmsNormBackwardArgs& args, cudaStream_t stream);
std::string Launch(const RopeArgs& args, cudaStream_t stream);
std::string Launch(const SwigluForwardArgs& args, cudaStream_t stream);
std::string Launch(const SwigluBackwardArgs& args, cudaStream_t stream);
std::string Launch(const SoftmaxForwardArgs& args, cudaStream_t stream);
std::string Launch(const SoftmaxBackwardArgs& args, cudaStream_t stream);
std::string Launch(const CrossEntropyForwardArgs& args, cudaStream_t stream);
std::string Launch(const CrossEntropyBackwardArgs& args, cudaStream_t stream);
std::string Launch(const FlashForwardArgs& args, cudaStream_t stream);
std::string Launch(const FlashBackwardArgs& args, cudaStream_t stream);

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_LAUNCHERS_H_
