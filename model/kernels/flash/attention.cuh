// SPDX-License-Identifier: MIT
// Selects the FlashAttention kernels for given arguments.

#ifndef TRAINBENCH_MODEL_KERNELS_FLASH_ATTENTION_CUH_
#define TRAINBENCH_MODEL_KERNELS_FLASH_ATTENTION_CUH_

#include <type_traits>

#include "model/kernels/device.h"
#include "model/kernels/flash/attention.h"
#include "model/kernels/flash/bf16_backward.cuh"
#include "model/kernels/flash/bf16_forward.cuh"
#include "model/kernels/flash/block.cuh"
#include "model/kernels/flash/fp32_backward.cuh"
#include "model/kernels/flash/fp32_forward.cuh"
#include "model/kernels/flash/rows.cuh"

namespace trainbench::kernels {

inline constexpr char kFlashHeads[] =
    "d_head must be 16, 32, 64 or, above it, a multiple of 8 up to 128";

// Calls f with the width of the tiles for the shape's d_head, as a type.
template <class L, class F>
typename L::Status WithFlashHead(const FlashShape& shape, const F& f) {
  if (!IsFlashHead(shape.d_head)) return L::Invalid(kFlashHeads);
  switch (shape.d_head) {
    case 16:
      return f(std::integral_constant<int, 16>());
    case 32:
      return f(std::integral_constant<int, 32>());
    case 64:
      return f(std::integral_constant<int, 64>());
    default:
      return f(std::integral_constant<int, kWidestHead>());
  }
}

// FlashRows launches the most blocks of all kernels, one per 8 rows.
inline const char* WhyNoFlash(const FlashShape& s) {
  constexpr int64_t kMaxSeq = 1 << 30;
  if (s.batch < 1 || s.heads < 1 || s.seq < 1 || s.seq > kMaxSeq ||
      s.heads > kMaxBlocks || s.batch > kMaxBlocks / s.heads ||
      s.batch * s.heads > kMaxBlocks / CeilDivide(s.seq, 8)) {
    return "batch times heads times seq must be in [1, 2^34), seq in [1, 2^30]";
  }
  if (!(s.scale > 0)) return "scale must be positive";
  return nullptr;
}

template <class... Tensors>
bool AreFlashTensors(Dtype dtype, const Tensors&... tensors) {
  const int64_t wide = dtype == Dtype::kBfloat16 ? 8 : 4;
  const auto has_aligned_rows = [wide](const auto& x) {
    return IsAligned(x.data, 16) && KeepAlignment(x.strides, wide);
  };
  return (has_aligned_rows(tensors) && ...);
}

inline constexpr char kFlashTensors[] =
    "rows of tensors must begin at multiples of 16 bytes";

// One block per `rows` rows of a head.
template <class Kernel>
Grid FlashGrid(const FlashShape& shape, int rows) {
  return {shape.batch * shape.heads * CeilDivide(shape.seq, rows),
          Kernel::kMaxThreads, Kernel::kSharedBytes};
}

template <class Kernel>
Grid FlashRowsGrid(const FlashShape& shape) {
  return {CeilDivide(Kernel::Count(shape), Kernel::kRows), Kernel::kMaxThreads,
          0};
}

template <class L>
typename L::Status FlashForward(L& launcher, const FlashForwardArgs& a) {
  if (const char* why = WhyNoFlash(a.shape)) return L::Invalid(why);
  if (!AreFlashTensors(a.shape.dtype, a.q, a.k, a.v, a.o)) {
    return L::Invalid(kFlashTensors);
  }
  return WithFlashHead<L>(a.shape, [&](auto head) {
    constexpr int kHead = decltype(head)::value;
    using Half = FlashBf16Forward<kHead>;
    using Full = FlashFp32Forward<kHead>;
    return a.shape.dtype == Dtype::kBfloat16
               ? launcher.template Launch<Half>(
                     FlashGrid<Half>(a.shape, Half::kRows), a)
               : launcher.template Launch<Full>(
                     FlashGrid<Full>(a.shape, Full::kRows), a);
  });
}

// Prepares the rows, computes the gradients, then rounds the queries'.
template <class T, class Backward, class L>
typename L::Status RunFlashBackward(L& launcher, const FlashBackwardArgs& a) {
  using Prepare = FlashPrepareRows<T>;
  using Finish = FlashFinishQueries<T>;
  typename L::Status status =
      launcher.template Launch<Prepare>(FlashRowsGrid<Prepare>(a.shape), a);
  if (!L::Ok(status)) return status;
  status = launcher.template Launch<Backward>(
      FlashGrid<Backward>(a.shape, Backward::kKeys), a);
  if (!L::Ok(status)) return status;
  return launcher.template Launch<Finish>(FlashRowsGrid<Finish>(a.shape), a);
}

template <class L>
typename L::Status FlashBackward(L& launcher, const FlashBackwardArgs& a) {
  if (const char* why = WhyNoFlash(a.shape)) return L::Invalid(why);
  if (!AreFlashTensors(a.shape.dtype, a.q, a.k, a.v, a.o, a.grad_o, a.grad_q,
                       a.grad_k, a.grad_v) ||
      a.grad_q_sum == nullptr || !IsAligned(a.grad_q_sum, 16)) {
    return L::Invalid(kFlashTensors);
  }
  return WithFlashHead<L>(a.shape, [&](auto head) {
    constexpr int kHead = decltype(head)::value;
    if (a.shape.dtype == Dtype::kBfloat16) {
      return RunFlashBackward<Bf16, FlashBf16Backward<kHead>>(launcher, a);
    }
    return RunFlashBackward<float, FlashFp32Backward<kHead>>(launcher, a);
  });
}

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_FLASH_ATTENTION_CUH_
