// SPDX-License-Identifier: MIT
// Products of two matrices with the faster of LibTorch's libraries.

#ifndef TRAINBENCH_MODEL_FUSED_MM_H_
#define TRAINBENCH_MODEL_FUSED_MM_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "model/spec/enum_names.h"

namespace trainbench {

// The library that multiplies fp32 matrices on a CPU. LibTorch uses MKL.
enum class ProductLibrary { kMkl, kOneDnn };

inline constexpr EnumNames<ProductLibrary, 2> ProductLibraryName{"mkl",
                                                                 "onednn"};
inline constexpr auto kProductLibraries = ProductLibraryName.values();

// Returns why the library cannot multiply on this CPU, or "". LibTorch uses
// oneDNN for products only with AVX-512.
std::string ProductLibraryUnavailable(ProductLibrary library);

// Returns the faster library on this CPU for [m, k] times [k, n] in fp32. MKL
// has 512-bit kernels only for Intel's CPUs: on an AMD EPYC with 512-bit units,
// oneDNN took 0.41 to 0.53 of MKL's time for products of 0.4 to 17 GFLOP, but
// twice its time for a product of 1 MFLOP (peak/linear measures both).
ProductLibrary FasterLibrary(int64_t m, int64_t n, int64_t k);

// The library that Mm uses for such a product on this device. kMkl also stands
// for LibTorch's own choice in other dtypes or on a GPU.
ProductLibrary LibraryOf(at::Device device, at::ScalarType dtype, int64_t m,
                         int64_t n, int64_t k);

// c [m, n] = a [m, k] b [k, n], fp32 on a CPU, in any layout. Throws c10::Error
// if the library is unavailable.
void MmInto(ProductLibrary library, const at::Tensor& a, const at::Tensor& b,
            at::Tensor& c);

// a [m, k] b [k, n], like at::mm, with the library that LibraryOf returns.
at::Tensor Mm(const at::Tensor& a, const at::Tensor& b);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_MM_H_
