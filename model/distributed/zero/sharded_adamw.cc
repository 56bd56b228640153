// SPDX-License-Identifier: MIT

#include <torch/types.h>

#include <cstddef>
#include <cstdint>

#include "model/distributed/ddp/flat_buffer.h"
#include "model/distributed/zero/flat_gradients.h"
#include "model/distributed/zero/parallel_optimizer.h"

namespace trainbench {
namespace {

// This rank's shard of [N * n] values.
at::Tensor MyPart(const at::Tensor& values, const ProcessGroup& group) {
  const int64_t n = values.numel() / group.size();
  return values.narrow(0, group.rank() * n, n);
}

// Makes each parameter a view of one buffer, its values unchanged.
at::Tensor FlattenInPlace(const std::vector<at::Tensor>& parameters,
                          int multiple) {
  const at::NoGradGuard no_grad;
  const FlatBuffer buffer = MakeFlatBuffer(parameters, multiple);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    buffer.views[i].copy_(parameters[i]);
    parameters[i].set_data(buffer.views[i]);
  }
  return buffer.values;
}

class ShardedAdamW final : public ParallelOptimizer {
 public:
  ShardedAdamW(const std::vector<at::Tensor>& parameters,
               const AdamWOptions& options, ProcessGroup& group)
      : group_(group),
        gradients_(parameters, group,
                   [&group](const at::Tensor& values) {
                     group.ReduceScatter(MyPart(values, group), values);
                   }),
        parameters_(FlattenInPlace(parameters, group.size())),
        shard_(MyPart(parameters_, group)),
        adamw_({shard_}, AdamWKind::kFused, options) {
    shard_.mutable_grad() = MyPart(gradients_.values(), group);
  }

  void Synchronize() override { gradients_.Finish(); }
  void Step() override { adamw_.Step(); }
  void ShareParameters() override { group_.AllGather(parameters_, shard_); }
  int64_t StateBytes() const override { return adamw_.StateBytes(); }
  double SentBytes() const override {
    const std::size_t shards = shard_.nbytes() + shard_.grad().nbytes();
    return (group_.size() - 1) * static_cast<double>(shards);
  }

 private:
  ProcessGroup& group_;
  FlatGradients gradients_;
  at::Tensor parameters_;  // all parameters, padded
  at::Tensor shard_;       // this rank's shard of them
  AdamW adamw_;
};

}  // namespace

std::unique_ptr<ParallelOptimizer> MakeShardedAdamW(
    const std::vector<at::Tensor>& parameters, const AdamWOptions& options,
    ProcessGroup& group) {
  return std::make_unique<ShardedAdamW>(parameters, options, group);
}

}  // namespace trainbench
