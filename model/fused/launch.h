// SPDX-License-Identifier: MIT
// Runs kernels on tensors. The arguments of a kernel (model/kernels) are the
// same on a CPU and on a GPU.

#ifndef TRAINBENCH_MODEL_FUSED_LAUNCH_H_
#define TRAINBENCH_MODEL_FUSED_LAUNCH_H_

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <string>

#include "model/dry_run/dry_run.h"
#include "model/fused/cpu/launchers.h"
#include "model/kernels/device.h"
#include "model/kernels/head_strides.h"

#ifdef TRAINBENCH_CUDA
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>

#include "model/kernels/launchers.h"
#endif

namespace trainbench {

// c10::Error names a dtype that no kernel supports.
inline kernels::Dtype DtypeOf(const at::Tensor& x) {
  const at::ScalarType type = x.scalar_type();
  TORCH_CHECK(type == at::kFloat || type == at::kBFloat16, "dtype is ", type,
              "; allowed: Float, BFloat16");
  return type == at::kFloat ? kernels::Dtype::kFloat32
                            : kernels::Dtype::kBfloat16;
}

// x is [batch, heads, seq, d_head].
inline kernels::HeadStrides StridesOf(const at::Tensor& x) {
  return {x.stride(0), x.stride(1), x.stride(2)};
}

// Pointers to the values from element `first` on; null for an undefined tensor.
inline const void* In(const at::Tensor& x, int64_t first = 0) {
  if (!x.defined()) return nullptr;
  return static_cast<const char*>(x.const_data_ptr()) +
         first * static_cast<int64_t>(x.element_size());
}
inline void* Out(const at::Tensor& x, int64_t first = 0) {
  if (!x.defined()) return nullptr;
  return static_cast<char*>(x.data_ptr()) +
         first * static_cast<int64_t>(x.element_size());
}

// Launches on the current stream of the device of `on`. c10::Error says why a
// launch failed; in a build without CUDA every launch fails.
template <typename Args>
void LaunchOnCuda([[maybe_unused]] const at::Tensor& on,
                  [[maybe_unused]] const Args& args) {
  if (DryRun::IsOn()) return;
#ifdef TRAINBENCH_CUDA
  const c10::cuda::CUDAGuard guard(on.device());
  const std::string why =
      kernels::Launch(args, at::cuda::getCurrentCUDAStream());
  TORCH_CHECK(why.empty(), why);
#else
  TORCH_CHECK(false, "built without CUDA, and so without the GPU kernels");
#endif
}

// Runs a kernel on the device of `on`.
template <typename Args>
void Launch(const at::Tensor& on, const Args& args) {
  if (on.is_cpu()) return LaunchOnCpu(args);
  LaunchOnCuda(on, args);
}

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_LAUNCH_H_
