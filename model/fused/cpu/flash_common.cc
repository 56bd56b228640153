// SPDX-License-Identifier: MIT

#include "model/fused/cpu/flash_common.h"

#include <ATen/Context.h>

#include <atomic>
#include <exception>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "model/fused/cpu/parallel.h"

namespace trainbench {
namespace {

// On CPUs without it, oneDNN may emulate bf16, which is slow.
bool HasBf16() { return __builtin_cpu_supports("avx512bf16") != 0; }

std::atomic<bool> widens_bf16 = false;

}  // namespace

bool MultipliesBf16() {
  return HasBf16() && !widens_bf16 && at::globalContext().userEnabledMkldnn();
}

void WidenBf16() { widens_bf16 = true; }

bool IsWithoutKernel(const std::exception& error) {
  const absl::string_view what = error.what();
  return absl::StrContains(what, "could not") ||  // oneDNN's message
         absl::StrContains(what, "Brgemm");       // ATen's message
}

void ForEachItem(int64_t items, int64_t slots,
                 const std::function<void(int64_t, int64_t)>& work) {
  std::atomic<int64_t> next = 0;
  constexpr int64_t kWorthAThread = 1 << 20;
  ForRows(slots, kWorthAThread, [&](int64_t first, int64_t end) {
    for (int64_t slot = first; slot < end; ++slot) {
      // Threads that multiplied bf16 with AMX keep its tiles configured.
      const absl::Cleanup release = [] {
        at::native::cpublas::brgemm_release();
      };
      for (int64_t item = next++; item < items; item = next++) {
        work(item, slot);
      }
    }
  });
}

}  // namespace trainbench
