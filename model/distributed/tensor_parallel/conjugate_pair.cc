// SPDX-License-Identifier: MIT

#include "model/distributed/tensor_parallel/conjugate_pair.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/types.h>

#include <memory>
#include <string>
#include <utility>

namespace trainbench {
namespace {

using torch::autograd::variable_list;

// A separate Node, because a torch::autograd::Function cannot keep a reference.
class SumOfGradients final : public torch::autograd::Node {
 public:
  SumOfGradients(TensorGroup& ranks, torch::autograd::edge_list next)
      : Node(std::move(next)), ranks_(ranks) {}

  std::string name() const override { return "trainbench::CopyToRanks"; }

  variable_list apply(variable_list&& gradients) override {
    variable_list summed = std::move(gradients);
    summed[0] = summed[0].contiguous();
    ranks_.Sum(summed[0]);
    return summed;
  }

 private:
  TensorGroup& ranks_;
};

}  // namespace

at::Tensor CopyToRanks(const at::Tensor& x, TensorGroup& ranks) {
  if (!torch::autograd::compute_requires_grad(x)) return x;
  auto node = std::make_shared<SumOfGradients>(
      ranks, torch::autograd::collect_next_edges(x));
  at::Tensor copy = x.detach();
  torch::autograd::set_history(copy, node);
  return copy;
}

at::Tensor SumOverRanks(at::Tensor summand, TensorGroup& ranks) {
  TORCH_CHECK(summand.is_contiguous(), "the summand of shape ", summand.sizes(),
              " has strides ", summand.strides(), "; allowed: contiguous");
  // Bypasses autograd, which sees the summed values as the values of `summand`.
  ranks.Sum(summand.detach());
  return summand;
}

}  // namespace trainbench
