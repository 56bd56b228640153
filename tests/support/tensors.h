// SPDX-License-Identifier: MIT
// Tensors of a given size, and the largest difference between two.

#ifndef TRAINBENCH_TESTS_SUPPORT_TENSORS_H_
#define TRAINBENCH_TESTS_SUPPORT_TENSORS_H_

#include <torch/types.h>

#include <cstdint>

namespace trainbench {

inline constexpr int64_t kKiB = int64_t{1} << 10;
inline constexpr int64_t kMiB = int64_t{1} << 20;

inline at::Tensor Allocate(int64_t bytes, at::Device device = at::kCPU) {
  return at::empty({bytes}, at::TensorOptions(device).dtype(at::kByte));
}

inline double MaxError(const at::Tensor& a, const at::Tensor& b) {
  return (a.detach() - b.detach()).abs().max().item<double>();
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_TENSORS_H_
