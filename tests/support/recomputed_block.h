// SPDX-License-Identifier: MIT
// A block whose forward pass keeps its input alone and runs again in the
// backward pass.

#ifndef TRAINBENCH_TESTS_SUPPORT_RECOMPUTED_BLOCK_H_
#define TRAINBENCH_TESTS_SUPPORT_RECOMPUTED_BLOCK_H_

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "model/nn/block.h"

namespace trainbench {

class RecomputedBlock : public torch::autograd::Function<RecomputedBlock> {
 public:
  using Context = torch::autograd::AutogradContext;
  using Variables = torch::autograd::variable_list;

  static at::Tensor Run(Block& block, const at::Tensor& x) {
    return apply(reinterpret_cast<int64_t>(&block), x,
                 at::TensorList(block->parameters()));
  }

  static at::Tensor forward(Context* ctx, int64_t block, const at::Tensor& x,
                            at::TensorList) {
    ctx->saved_data["block"] = block;
    ctx->save_for_backward({x});
    const at::NoGradGuard no_grad;
    return Forward(block, x);
  }

  static Variables backward(Context* ctx, Variables gradients) {
    const int64_t block = ctx->saved_data["block"].toInt();
    Variables inputs = {ctx->get_saved_variables()[0].detach()};
    inputs[0].requires_grad_();
    for (const at::Tensor& parameter : At(block)->parameters()) {
      inputs.push_back(parameter);
    }
    const at::AutoGradMode with_graph(true);
    const at::Tensor y = Forward(block, inputs[0]);
    Variables found = torch::autograd::grad({y}, inputs, gradients);
    found.insert(found.begin(), at::Tensor());
    return found;
  }

 private:
  static Block& At(int64_t block) { return *reinterpret_cast<Block*>(block); }
  static at::Tensor Forward(int64_t block, const at::Tensor& x) {
    ResidualStream stream = {x, {}};
    At(block)->forward(stream);
    return stream.x;
  }
};

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_SUPPORT_RECOMPUTED_BLOCK_H_
