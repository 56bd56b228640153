// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_LINEAR_H_
#define TRAINBENCH_MODEL_NN_LINEAR_H_

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

#include "model/spec/implementation.h"

namespace trainbench {

// y = x W^T, or x W^T + b. W is [out, in], initialized from a normal of
// variance 2 / (in + out) truncated at 3 sigma (Glorot & Bengio 2010); b is 0.
class LinearImpl : public torch::nn::Module {
 public:
  // Fused: computes as LinearProduct (model/fused/product.h), else at::linear.
  LinearImpl(int64_t in, int64_t out, const at::TensorOptions& options,
             Implementation implementation = Implementation::kTextbook,
             bool has_bias = false);
  // Uses `uninitialized` [out, in] as the weight and initializes it.
  explicit LinearImpl(const at::Tensor& uninitialized,
                      Implementation implementation = Implementation::kTextbook,
                      bool has_bias = false);

  // x [..., in] -> [..., out].
  at::Tensor forward(const at::Tensor& x);

  // From now on forward() omits the bias. The caller adds it with AddBias after
  // it has summed the products of several ranks.
  void LeaveBias() { leaves_bias_ = true; }
  at::Tensor AddBias(at::Tensor product) const;

  at::Tensor weight;
  at::Tensor bias;  // undefined: none

 private:
  Implementation implementation_;
  bool leaves_bias_ = false;
};
TORCH_MODULE(Linear);

// Linear layers that read the same input. In the fused implementation their
// weights are adjacent in memory, so that ProductOf need not copy them.
std::vector<Linear> MakeLinears(int64_t in, const std::vector<int64_t>& outs,
                                const at::TensorOptions& options,
                                Implementation implementation, bool has_bias);

// The concatenated outputs for x, as one product (model/fused/product.h).
at::Tensor ProductOf(const at::Tensor& x, const std::vector<Linear>& linears);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_LINEAR_H_
