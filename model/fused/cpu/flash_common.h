// SPDX-License-Identifier: MIT
// Code that the forward and the backward pass of attention share.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_FLASH_COMMON_H_
#define TRAINBENCH_MODEL_FUSED_CPU_FLASH_COMMON_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <exception>
#include <functional>

#include "model/fused/cpu/flash_operands.h"
#include "model/fused/cpu/flash_tiles.h"

namespace trainbench {

struct FlashShape {
  explicit FlashShape(const at::Tensor& q);

  int64_t sequences() const { return batch * heads; }

  int64_t batch, heads, seq, d_head;
  float scale;  // 1 / sqrt(d_head)
  CpuFlashTiles tiles;
};

// Rows of one head of one sequence: at most `count`, starting at row `first`.
template <typename T>
Rows<T> RowsOf(const at::Tensor& x, int64_t sequence, int64_t first,
               int64_t count) {
  const int64_t heads = x.size(1);
  T* const data = x.data_ptr<T>() + sequence / heads * x.stride(0) +
                  sequence % heads * x.stride(1) + first * x.stride(2);
  return {data, x.stride(2), std::min(count, x.size(2) - first), x.size(3)};
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
void WithTypes(at::ScalarType dtype, const Work& work) {
  if (dtype == at::kFloat) return work(float(), float());
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
