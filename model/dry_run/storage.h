// SPDX-License-Identifier: MIT
// Storages of tensors without memory.

#ifndef TRAINBENCH_MODEL_DRY_RUN_STORAGE_H_
#define TRAINBENCH_MODEL_DRY_RUN_STORAGE_H_

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/DispatchKey.h>
#include <c10/core/Storage.h>

namespace trainbench::dry {

// The backend's dispatch key, CPU or CUDA. c10::Error names any other device.
c10::DispatchKey KeyOf(c10::Device device);

// Whether the tensor's storage was created here.
bool IsDry(const at::Tensor& x);

// Creates a tensor in `storage` with the dtype, sizes and strides of `like`.
at::Tensor In(c10::Storage storage, c10::DispatchKey key,
              const at::Tensor& like);

// The meta tensor on which LibTorch's meta kernels compute sizes and strides.
// Views of one dry storage share one meta storage, which identifies them.
at::Tensor MetaOf(const at::Tensor& x);

// Creates a dry tensor on `device` like `meta`, in a new storage. Reports the
// allocation of the storage and, later, its deallocation.
at::Tensor NewLike(const at::Tensor& meta, c10::Device device);

// Gives `dry` the sizes and bytes of its meta tensor `meta`, which an operator
// has resized.
void Resize(const at::Tensor& dry, const at::Tensor& meta);

}  // namespace trainbench::dry

#endif  // TRAINBENCH_MODEL_DRY_RUN_STORAGE_H_
