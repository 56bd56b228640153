// SPDX-License-Identifier: MIT

#include "model/distributed/zero/flat_gradients.h"
#include "model/distributed/zero/parallel_optimizer.h"

namespace trainbench {
namespace {

class ReplicatedAdamW final : public ParallelOptimizer {
 public:
  ReplicatedAdamW(const std::vector<at::Tensor>& parameters,
                  const AdamWOptions& options, ProcessGroup& group)
      : gradients_(
            parameters, group,
            [&group](const at::Tensor& values) { group.AllReduce(values); }),
        adamw_(parameters, AdamWKind::kFused, options) {}

  void Synchronize() override { gradients_.Finish(); }
  void Step() override { adamw_.Step(); }
  void ShareParameters() override {}
  int64_t StateBytes() const override { return adamw_.StateBytes(); }
  double SentBytes() const override { return gradients_.AllReducedBytes(); }

 private:
  FlatGradients gradients_;
  AdamW adamw_;
};

}  // namespace

std::unique_ptr<ParallelOptimizer> MakeReplicatedAdamW(
    const std::vector<at::Tensor>& parameters, const AdamWOptions& options,
    ProcessGroup& group) {
  return std::make_unique<ReplicatedAdamW>(parameters, options, group);
}

}  // namespace trainbench
