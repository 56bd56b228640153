// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_NN_LINEAR_H_
#define TRAINBENCH_MODEL_NN_LINEAR_H_

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

#include "model/spec/implementation.h"

namespace trainbench {

// y = x W^T without bias. W is [out, in], initialised from a normal of variance
// 2 / (in + out) cut at 3 sigma (Glorot & Bengio 2010).
class LinearImpl : public torch::nn::Module {
 public:
  // Fused: as LinearProduct (model/fused/product.h), else as at::linear.
  LinearImpl(int64_t in, int64_t out, const at::TensorOptions& options,
             Implementation implementation = Implementation::kTextbook);
  // Takes `uninitialised` [out, in] for its weight.
  explicit LinearImpl(
      const at::Tensor& uninitialised,
      Implementation implementation = Implementation::kTextbook);

  // x [..., in] -> [..., out].
  at::Tensor forward(const at::Tensor& x);

  at::Tensor weight;

 private:
  Implementation implementation_;
};
TORCH_MODULE(Linear);

// Linear layers that read the same input. If `adjacent`, their weights lie one
// after another, as JoinedProduct (model/fused/product.h) wants them.
std::vector<Linear> MakeLinears(int64_t in, const std::vector<int64_t>& outs,
                                bool adjacent,
                                const at::TensorOptions& options);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_LINEAR_H_
