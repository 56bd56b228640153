// SPDX-License-Identifier: MIT

#include "model/kernels/cross_entropy.cuh"
#include "model/kernels/cuda_device.cuh"
#include "model/kernels/launchers.h"
#include "model/kernels/rms_norm.cuh"
#include "model/kernels/rope.cuh"
#include "model/kernels/softmax.cuh"
#include "model/kernels/swiglu.cuh"

namespace trainbench::kernels {

#define TRAINBENCH_LAUNCH(operation, Args)                    \
  std::string Launch(const Args& args, cudaStream_t stream) { \
    CudaLauncher launcher(stream);                            \
    return operation(launcher, args);                         \
  }

TRAINBENCH_LAUNCH(RmsNormForward, RmsNormForwardArgs)
TRAINBENCH_LAUNCH(RmsNormBackward, RmsNormBackwardArgs)
TRAINBENCH_LAUNCH(RopeTurn, RopeArgs)
TRAINBENCH_LAUNCH(SwigluForward, SwigluForwardArgs)
TRAINBENCH_LAUNCH(SwigluBackward, SwigluBackwardArgs)
TRAINBENCH_LAUNCH(SoftmaxForward, SoftmaxForwardArgs)
TRAINBENCH_LAUNCH(SoftmaxBackward, SoftmaxBackwardArgs)
TRAINBENCH_LAUNCH(CrossEntropyForward, CrossEntropyForwardArgs)
TRAINBENCH_LAUNCH(CrossEntropyBackward, CrossEntropyBackwardArgs)

#undef TRAINBENCH_LAUNCH

}  // namespace trainbench::kernels
