// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_LINEAR_H_
#define TRAINBENCH_MODEL_NN_LINEAR_H_

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

#include "model/spec/implementation.h"

namespace trainbench {

// y = x W^T, or x W^T + b. W is [out, in], initialised from a normal of
// variance 2 / (in + out) cut at 3 sigma (Glorot & Bengio 2010), b is 0.
class LinearImpl : public torch::nn::Module {
 public:
  // Fused: as LinearProduct (model/fused/product.h), else as at::linear.
  LinearImpl(int64_t in, int64_t out, const at::TensorOptions& options,
             Implementation implementation = Implementation::kTextbook,
             bool has_bias = false);
  // Takes `uninitialised` [out, in] for its weight.
  explicit LinearImpl(const at::Tensor& uninitialised,
                      Implementation implementation = Implementation::kTextbook,
                      bool has_bias = false);

  // x [..., in] -> [..., out].
  at::Tensor forward(const at::Tensor& x);

  // From now on forward() does not add the bias: the caller does, by AddBias,
  // once it has summed what several ranks computed.
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
// weights lie one after another, as ProductOf wants them.
std::vector<Linear> MakeLinears(int64_t in, const std::vector<int64_t>& outs,
                                const at::TensorOptions& options,
                                Implementation implementation, bool has_bias);

// What they make of x, side by side, as one product (model/fused/product.h).
at::Tensor ProductOf(const at::Tensor& x, const std::vector<Linear>& linears);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_LINEAR_H_
