// SPDX-License-Identifier: MIT
// Products of two matrices, by the faster of the libraries that LibTorch has.

#ifndef TRAINBENCH_MODEL_FUSED_MM_H_
#define TRAINBENCH_MODEL_FUSED_MM_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "model/spec/enum_names.h"

namespace trainbench {

// What multiplies fp32 matrices on a CPU. LibTorch itself takes MKL.
enum class ProductLibrary { kMkl, kOneDnn };

inline constexpr EnumNames<ProductLibrary, 2> ProductLibraryName{"mkl",
                                                                 "onednn"};
inline constexpr auto kProductLibraries = ProductLibraryName.values();

// Why this CPU cannot multiply by the library, or "". LibTorch lets oneDNN
// multiply where it has AVX-512 alone.
std::string ProductLibraryUnavailable(ProductLibrary library);

// Which is faster on this CPU for [m, k] times [k, n] in fp32. MKL has kernels
// of 512 bits for Intel's CPUs alone: on an AMD EPYC that computes 512 bits at
// a time, oneDNN took 0.41 to 0.53 of MKL's time for products of 0.4 to 17
// GFLOP, but twice its time for one of a MFLOP (peak/linear measures both).
ProductLibrary FasterLibrary(int64_t m, int64_t n, int64_t k);

// Which library Mm takes for such a product on this device. MKL also stands for
// LibTorch's own choice in another dtype or on a GPU.
ProductLibrary LibraryOf(at::Device device, at::ScalarType dtype, int64_t m,
                         int64_t n, int64_t k);

// c [m, n] = a [m, k] b [k, n], fp32 on a CPU, in any layout. c10::Error where
// the library is unavailable.
void MmInto(ProductLibrary library, const at::Tensor& a, const at::Tensor& b,
            at::Tensor& c);

// a [m, k] b [k, n], as at::mm, by LibraryOf.
at::Tensor Mm(const at::Tensor& a, const at::Tensor& b);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_FUSED_MM_H_
