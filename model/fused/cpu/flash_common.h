// SPDX-License-Identifier: MIT
// Code that the forward and the backward pass of attention share.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_FLASH_COMMON_H_
#define TRAINBENCH_MODEL_FUSED_CPU_FLASH_COMMON_H_

#include <c10/util/BFloat16.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>

#include "model/fused/cpu/flash_operands.h"
#include "model/kernels/flash/attention.h"

namespace trainbench {

// Heads of all sequences.
inline int64_t Sequences(const kernels::FlashShape& shape) {
  return shape.batch * shape.heads;
}

// Rows of one head of one sequence: at most `count`, starting at row `first`.
template <typename T, typename Pointer>
Rows<T> RowsOf(const kernels::HeadTensor<Pointer>& x,
               const kernels::FlashShape& shape, int64_t sequence,
               int64_t first, int64_t count) {
  T* const data =
      static_cast<T*>(x.data) + sequence / shape.heads * x.strides.batch +
      sequence % shape.heads * x.strides.head + first * x.strides.token;
  return {data, x.strides.token, std::min(count, shape.seq - first),
          shape.d_head};
}

// Whether this CPU is known to multiply bf16 operands directly.
bool MultipliesBf16();
// Makes MultipliesBf16() return false from now on.
void WidenBf16();
// Whether `error` says that oneDNN has no kernel for a product.
bool IsWithoutKernel(const std::exception& error);

// Calls work(item, slot) once for each item. Items start in order: a thread
// takes the next one when it is done. Concurrent calls have different slots in
// [0, slots).
void ForEachItem(int64_t items, int64_t slots,
                 const std::function<void(int64_t, int64_t)>& work);

// Calls work(T(), Operand()) for elements T of `dtype` that are multiplied as
// Operand. May call it twice: if oneDNN has no bf16 kernel and throws, as under
// a lower ONEDNN_MAX_CPU_ISA, the second call multiplies in fp32.
template <typename Work>
void WithTypes(kernels::Dtype dtype, const Work& work) {
  if (dtype == kernels::Dtype::kFloat32) return work(float(), float());
  if (MultipliesBf16()) {
    try {
      return work(c10::BFloat16(), c10::BFloat16());
    } catch (const std::exception& error) {
      if (!IsWithoutKernel(error)) throw;
      WidenBf16();
    }
  }
  work(c10::BFloat16(), float());
}

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_CPU_FLASH_COMMON_H_
