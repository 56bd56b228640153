// SPDX-License-Identifier: MIT
// Facts on operators that a dry run needs and LibTorch's C++ does not provide:
// the operators without a meta kernel, scratch memory of kernels, and FLOPs of
// products. Each entry was found by comparing a dry run with a real run, as
// tests/model/dry_run does.

#ifndef TRAINBENCH_MODEL_DRY_RUN_OPERATORS_H_
#define TRAINBENCH_MODEL_DRY_RUN_OPERATORS_H_

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <utility>

namespace trainbench::dry {

// Work that arguments and results do not show.
struct KernelWork {
  double flops = 0;  // of matrix products
  // Memory that the kernel allocates after it has created its results.
  int64_t scratch_bytes = 0;
  bool in_bf16 = false;         // whether the products are in bf16
  int64_t result_elements = 0;  // of the concurrent products
};

// The current GPU's; empty in a build without CUDA.
struct GpuSize {
  int64_t multiprocessors = 0;
  int64_t threads = 0;  // of a multiprocessor
};
GpuSize SizeOfGpu();

// The scratch memory of a sum over `rows`, which LibTorch divides among the
// blocks of a GPU if each thread would add many (setReduceConfig in
// ATen/native/cuda/Reduce.cuh). Each block stores its threads' sums, in fp32.
int64_t SumOfRowsBytes(int64_t rows, int64_t columns, const GpuSize& gpu);

// Replaces the arguments, which are the whole stack, by results. Tensors are on
// the meta device.
using Kernel = KernelWork (*)(torch::jit::Stack& stack);

// Null if LibTorch's meta kernel, or the operators that this one calls,
// suffice.
Kernel FindKernel(const c10::OperatorName& name, c10::Device device);
// The same for LibTorch's fused attention.
Kernel FindAttentionKernel(const c10::OperatorName& name, c10::Device device);

// The work of a matrix product; empty for other operators. The arguments are on
// top of `stack`. Each CPU thread multiplies one matrix of a batch.
KernelWork ProductOf(const c10::OperatorHandle& op,
                     const torch::jit::Stack& stack);

inline int64_t CeilDiv(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

template <typename... Results>
KernelWork Return(torch::jit::Stack& stack, const KernelWork& work,
                  Results... results) {
  stack.clear();
  (stack.emplace_back(std::move(results)), ...);
  return work;
}

}  // namespace trainbench::dry

#endif  // TRAINBENCH_MODEL_DRY_RUN_OPERATORS_H_
