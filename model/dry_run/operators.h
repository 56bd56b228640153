// SPDX-License-Identifier: MIT
// What a dry run must be told of operators: those that LibTorch gives no meta
// kernel in C++, what kernels take for themselves, and FLOPs of products. Each
// entry was found by comparing a dry run with a real one, as
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

// What arguments and results do not tell.
struct KernelWork {
  double flops = 0;  // of matrix products
  // That the kernel takes for itself once it has made its results.
  int64_t scratch_bytes = 0;
  bool in_bf16 = false;         // the products
  int64_t result_elements = 0;  // of what is multiplied at once
};

// Replaces the arguments, all of the stack, by results. Tensors are on the
// meta device.
using Kernel = KernelWork (*)(torch::jit::Stack& stack);

// Null if LibTorch's meta kernel, or the operators in terms of which it writes
// this one, tell all.
Kernel FindKernel(const c10::OperatorName& name, c10::Device device);
// Of LibTorch's fused attention.
Kernel FindAttentionKernel(const c10::OperatorName& name, c10::Device device);

// Of an operator that multiplies matrices; else nothing. `stack` ends with its
// arguments. The threads of a CPU take one matrix of a batch each.
KernelWork ProductOf(const c10::OperatorHandle& op,
                     const torch::jit::Stack& stack);

template <typename... Results>
KernelWork Return(torch::jit::Stack& stack, const KernelWork& work,
                  Results... results) {
  stack.clear();
  (stack.emplace_back(std::move(results)), ...);
  return work;
}

}  // namespace trainbench::dry

#endif  // TRAINBENCH_MODEL_DRY_RUN_OPERATORS_H_
