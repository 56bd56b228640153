// SPDX-License-Identifier: MIT

#include "model/fused/mm.h"

#include <ATen/record_function.h>
#include <torch/types.h>

#include <string>
#include <vector>

#include "model/dry_run/dry_run.h"

// LibTorch exports this function but has no header for it. All operators that
// use oneDNN for fp32 copy transposed operands.
namespace at::native {
void mkldnn_matmul(const Tensor& a, const Tensor& b, const Tensor& result,
                   float beta, float alpha);
}  // namespace at::native

namespace trainbench {
namespace {

// A call of oneDNN has a few microseconds more overhead.
constexpr double kLeastFlops = 0x1p23;

bool HasAvx512() {
  return __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0;
}

bool MklHasNoWideKernels() {
  return __builtin_cpu_is("amd") != 0 && HasAvx512();
}

}  // namespace

std::string ProductLibraryUnavailable(ProductLibrary library) {
  return library == ProductLibrary::kMkl || HasAvx512()
             ? ""
             : "oneDNN's products need a CPU with AVX-512";
}

ProductLibrary FasterLibrary(int64_t m, int64_t n, int64_t k) {
  const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) *
                       static_cast<double>(k);
  return MklHasNoWideKernels() && flops >= kLeastFlops ? ProductLibrary::kOneDnn
                                                       : ProductLibrary::kMkl;
}

void MmInto(ProductLibrary library, const at::Tensor& a, const at::Tensor& b,
            at::Tensor& c) {
  // A dry run observes only operators.
  if (library == ProductLibrary::kMkl || DryRun::IsOn()) {
    at::mm_out(c, a, b);
    if (library == ProductLibrary::kOneDnn) {
      DryRun::Record({.name = "trainbench::mm",
                      .by_onednn = true,
                      .result_elements = c.numel()});
    }
    return;
  }
  // Recorded as the operator that it replaces, for profiles and product checks.
  RECORD_FUNCTION("aten::mm", std::vector<c10::IValue>({a, b}));
  at::native::mkldnn_matmul(a, b, c, /*beta=*/0, /*alpha=*/1);
}

ProductLibrary LibraryOf(at::Device device, at::ScalarType dtype, int64_t m,
                         int64_t n, int64_t k) {
  return device.is_cpu() && dtype == at::kFloat ? FasterLibrary(m, n, k)
                                                : ProductLibrary::kMkl;
}

at::Tensor Mm(const at::Tensor& a, const at::Tensor& b) {
  if (LibraryOf(a.device(), a.scalar_type(), a.size(0), b.size(1), a.size(1)) ==
      ProductLibrary::kMkl) {
    return at::mm(a, b);
  }
  at::Tensor c = at::empty({a.size(0), b.size(1)}, a.options());
  MmInto(ProductLibrary::kOneDnn, a, b, c);
  return c;
}

}  // namespace trainbench
