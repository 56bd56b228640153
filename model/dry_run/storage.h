// SPDX-License-Identifier: MIT
// Storages of tensors without memory.

#ifndef TRAINBENCH_MODEL_DRY_RUN_STORAGE_H_
#define TRAINBENCH_MODEL_DRY_RUN_STORAGE_H_

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/DispatchKey.h>
#include <c10/core/Storage.h>

namespace trainbench::dry {

// Of the device's backend: CPU or CUDA. c10::Error names any other device.
c10::DispatchKey KeyOf(c10::Device device);

// Whether the tensor has a storage made here.
bool IsDry(const at::Tensor& x);

// A tensor in `storage` with the dtype, sizes and strides of `like`.
at::Tensor In(c10::Storage storage, c10::DispatchKey key,
              const at::Tensor& like);

// The tensor for which LibTorch's meta kernels compute sizes and strides. Views
// of one dry storage have one meta storage, by which they find each other.
at::Tensor MetaOf(const at::Tensor& x);

// A dry tensor of `device` as `meta` describes it, in a storage of its own,
// whose birth and death are reported.
at::Tensor NewLike(const at::Tensor& meta, c10::Device device);

// Gives `dry` the sizes and the bytes of `meta`, its meta tensor, which an
// operator has resized.
void Resize(const at::Tensor& dry, const at::Tensor& meta);

}  // namespace trainbench::dry

#endif  // TRAINBENCH_MODEL_DRY_RUN_STORAGE_H_
