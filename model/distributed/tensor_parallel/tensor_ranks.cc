// SPDX-License-Identifier: MIT

#include "model/distributed/tensor_parallel/tensor_ranks.h"

#include <c10/util/Exception.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace trainbench {
namespace {

using torch::autograd::variable_list;

ProcessGroup* Part(ProcessGroup& group, const std::vector<int>& colors) {
  const auto part = group.Split(colors);
  TORCH_CHECK_WITH(DistNetworkError, part.ok(),
                   std::string(part.status().message()));
  return *part;
}

const ModelConfig& Checked(const ModelConfig& whole, int ranks) {
  const absl::Status status = ValidateParts(whole, ranks);
  TORCH_CHECK(status.ok(), std::string(status.message()));
  return whole;
}

// A separate Node, because a torch::autograd::Function cannot keep a reference.
class SumOfGradients final : public torch::autograd::Node {
 public:
  SumOfGradients(TensorRanks& ranks, torch::autograd::edge_list next)
      : Node(std::move(next)), ranks_(ranks) {}

  std::string name() const override { return "trainbench::Enter"; }

  variable_list apply(variable_list&& gradients) override {
    variable_list summed = std::move(gradients);
    summed[0] = summed[0].contiguous();
    ranks_.Sum(summed[0]);
    return summed;
  }

 private:
  TensorRanks& ranks_;
};

}  // namespace

MeshGroups SplitMesh(ProcessGroup& group, int tensor) {
  TORCH_CHECK(tensor >= 1 && group.size() % tensor == 0, "a mesh of ",
              group.size(), " ranks has ", tensor,
              " tensor ranks; allowed: a divisor of the ranks");
  std::vector<int> of_tensor, of_data;
  for (int rank = 0; rank < group.size(); ++rank) {
    of_tensor.push_back(rank / tensor);
    of_data.push_back(rank % tensor);
  }
  return {.tensor = Part(group, of_tensor), .data = Part(group, of_data)};
}

TensorRanks::TensorRanks(const ModelConfig& whole, ProcessGroup& group)
    : whole_(Checked(whole, group.size())),
      group_(group),
      words_(PartOf(whole.vocab, group.rank(), group.size())) {}

ModelConfig TensorRanks::part() const {
  return PartOf(whole_, group_.rank(), group_.size());
}

at::Tensor TensorRanks::Enter(const at::Tensor& x) {
  if (!torch::autograd::compute_requires_grad(x)) return x;
  auto node = std::make_shared<SumOfGradients>(
      *this, torch::autograd::collect_next_edges(x));
  at::Tensor copy = x.detach();
  torch::autograd::set_history(copy, node);
  return copy;
}

at::Tensor TensorRanks::Leave(at::Tensor summand) {
  TORCH_CHECK(summand.is_contiguous(), "the summand of shape ", summand.sizes(),
              " has strides ", summand.strides(), "; allowed: contiguous");
  // Bypasses autograd, which sees the summed values as the values of `summand`.
  Sum(summand.detach());
  return summand;
}

void TensorRanks::Sum(const at::Tensor& tensor) {
  if (sends()) group_.AllReduce(tensor);
}

void TensorRanks::Max(const at::Tensor& tensor) {
  if (sends()) group_.AllReduceMax(tensor);
}

}  // namespace trainbench
