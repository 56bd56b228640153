// SPDX-License-Identifier: MIT

#include "model/fused/cpu/flash_common.h"

#include <ATen/Context.h>

#include <atomic>
#include <cmath>
#include <vector>

#include "model/fused/cpu/parallel.h"

namespace trainbench {

FlashShape::FlashShape(const at::Tensor& q)
    : batch(q.size(0)),
      heads(q.size(1)),
      seq(q.size(2)),
      d_head(q.size(3)),
      scale(1 / std::sqrt(static_cast<float>(d_head))),
      tiles(seq, d_head) {}

namespace {

// oneDNN says no by an exception, e.g. under ONEDNN_MAX_CPU_ISA.
bool TryBf16() {
#ifdef __x86_64__
  if (!__builtin_cpu_supports("avx512bf16")) return false;  // emulated: slow
#endif
  constexpr int64_t kSize = 16;
  const std::vector<c10::BFloat16> ones(kSize * kSize, 1.0F);
  std::vector<float> result(kSize * kSize);
  try {
    Multiply(kSize, kSize, kSize, ones.data(), kSize, ones.data(), kSize,
             result.data(), kSize, false);
  } catch (const c10::Error&) {
    return false;
  }
  at::native::cpublas::brgemm_release();
  return true;
}

}  // namespace

bool MultipliesBf16() {
  static const bool can = TryBf16();
  return can && at::globalContext().userEnabledMkldnn();
}

void ForEachItem(int64_t items, int64_t slots,
                 const std::function<void(int64_t, int64_t)>& work) {
  std::atomic<int64_t> next = 0;
  constexpr int64_t kWorthAThread = 1 << 20;
  ForRows(slots, kWorthAThread, [&](int64_t first, int64_t end) {
    for (int64_t slot = first; slot < end; ++slot) {
      for (int64_t item = next++; item < items; item = next++) {
        work(item, slot);
      }
      // Threads that multiplied bf16 by AMX hold its tiles.
      at::native::cpublas::brgemm_release();
    }
  });
}

}  // namespace trainbench
