// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_ROPE_H_
#define TRAINBENCH_MODEL_NN_ROPE_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

namespace trainbench {

// Rotary position embedding (Su et al. 2021): the channel pair (2i, 2i+1) of
// position t is rotated by the angle t * kTheta^(-2i / d_head). Computed in at
// least fp32, returned in the dtype of the input.
class Rope {
 public:
  static constexpr double kTheta = 10000.0;

  // d_head must be even.
  explicit Rope(int64_t d_head) : d_head_(d_head) {}

  // x [..., seq, d_head] -> same shape, rotated for positions 0 .. seq-1,
  // contiguous.
  at::Tensor Rotate(const at::Tensor& x);

  // Cosines and sines [seq, d_head / 2] of the angles, with the dtype and
  // device of `options`. The tables of the longest sequence so far are cached.
  std::pair<at::Tensor, at::Tensor> Tables(int64_t seq,
                                           const at::TensorOptions& options);

 private:
  void EnsureTables(int64_t seq, const at::TensorOptions& options);

  int64_t d_head_;
  at::Tensor cos_;
  at::Tensor sin_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_ROPE_H_
