// SPDX-License-Identifier: MIT

#include <torch/types.h>

#include <cstddef>
#include <cstdint>

#include "model/distributed/zero/flat_gradients.h"
#include "model/distributed/zero/ownership.h"
#include "model/distributed/zero/parallel_optimizer.h"

namespace trainbench {
namespace {

std::vector<int> OwnersOf(const std::vector<at::Tensor>& parameters,
                          int ranks) {
  std::vector<int64_t> elements;
  for (const at::Tensor& parameter : parameters) {
    elements.push_back(parameter.numel());
  }
  return AssignOwners(elements, ranks);
}

std::vector<at::Tensor> OwnedBy(int rank,
                                const std::vector<at::Tensor>& parameters,
                                const std::vector<int>& owners) {
  std::vector<at::Tensor> owned;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (owners[i] == rank) owned.push_back(parameters[i]);
  }
  return owned;
}

class BroadcastAdamW final : public ParallelOptimizer {
 public:
  BroadcastAdamW(const std::vector<at::Tensor>& parameters,
                 const AdamWOptions& options, ProcessGroup& group)
      : group_(group),
        parameters_(parameters),
        owners_(OwnersOf(parameters, group.size())),
        gradients_(
            parameters, group,
            [&group](const at::Tensor& values) { group.AllReduce(values); }),
        adamw_(OwnedBy(group.rank(), parameters, owners_), AdamWKind::kFused,
               options) {}

  void Synchronize() override { gradients_.Finish(); }
  void Step() override { adamw_.Step(); }
  void ShareParameters() override {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      group_.Broadcast(parameters_[i].detach(), owners_[i]);
    }
  }
  int64_t StateBytes() const override { return adamw_.StateBytes(); }
  double SentBytes() const override {
    double bytes = 0;
    for (const at::Tensor& owned :
         OwnedBy(group_.rank(), parameters_, owners_)) {
      bytes += static_cast<double>(owned.nbytes());
    }
    return gradients_.AllReducedBytes() + (group_.size() - 1) * bytes;
  }

 private:
  ProcessGroup& group_;
  std::vector<at::Tensor> parameters_;
  std::vector<int> owners_;  // by parameter
  FlatGradients gradients_;
  AdamW adamw_;
};

}  // namespace

std::unique_ptr<ParallelOptimizer> MakeBroadcastAdamW(
    const std::vector<at::Tensor>& parameters, const AdamWOptions& options,
    ProcessGroup& group) {
  return std::make_unique<BroadcastAdamW>(parameters, options, group);
}

}  // namespace trainbench
