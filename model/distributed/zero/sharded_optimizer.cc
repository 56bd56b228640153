// SPDX-License-Identifier: MIT

#include "model/distributed/zero/sharded_optimizer.h"

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "model/distributed/comm/traffic.h"
#include "model/distributed/ddp/flat_buffer.h"
#include "model/distributed/ddp/overlap_base.h"
#include "model/distributed/zero/ownership.h"

namespace trainbench {
namespace {

// Moves each gradient, divided by the number of ranks, into one buffer during
// the backward pass. Finish() then reduces the buffer in one call. The buffer
// is allocated from the first gradient until Release().
class FlatGradients final : public OverlapBase {
 public:
  // Sums values [elements, padded to a multiple of the ranks] over the ranks.
  using Reduce = std::function<void(const at::Tensor& values)>;

  FlatGradients(std::vector<at::Tensor> parameters, ProcessGroup& group,
                Reduce reduce)
      : OverlapBase(std::move(parameters), group), reduce_(std::move(reduce)) {}

  const at::Tensor& values() const { return buffer_.values; }
  void Release() {
    for (const at::Tensor& parameter : parameters()) {
      parameter.mutable_grad().reset();
    }
    buffer_ = {};
  }

 private:
  void OnGradient(std::size_t index) override {
    if (!buffer_.values.defined()) {
      buffer_ = MakeFlatBuffer(parameters(), group().size());
    }
    CopyShare(parameters()[index].grad(), buffer_.views[index]);
    parameters()[index].mutable_grad() = buffer_.views[index];
  }
  void WaitAll() override { reduce_(buffer_.values); }

  FlatBuffer buffer_;
  Reduce reduce_;
};

// AdamW with the gradients in one flat buffer.
class FlatAdamW : public ParallelTrainer {
 public:
  void Finish() override { gradients_.Finish(); }
  void Update() override {
    adamw_->Step();
    gradients_.Release();
  }
  void SetExchanges(bool on) override { exchanges_ = on; }
  int64_t StateBytes() const override { return adamw_->StateBytes(); }

 protected:
  // Validates the parameters.
  FlatAdamW(const std::vector<at::Tensor>& parameters, ProcessGroup& group,
            FlatGradients::Reduce reduce)
      : group_(group),
        gradients_(parameters, group,
                   [this, reduce = std::move(reduce)](const at::Tensor& all) {
                     if (exchanges_) reduce(all);
                   }) {}
  // Sets the tensors that this rank updates.
  void Own(const std::vector<at::Tensor>& owned, const AdamWOptions& options) {
    adamw_.emplace(owned, AdamWKind::kFused, options);
  }

  ProcessGroup& group() const { return group_; }
  bool exchanges() const { return exchanges_; }
  const at::Tensor& gradients() const { return gradients_.values(); }

 private:
  ProcessGroup& group_;
  FlatGradients gradients_;
  std::optional<AdamW> adamw_;
  bool exchanges_ = true;
};

FlatGradients::Reduce AllReduceOf(ProcessGroup& group) {
  return [&group](const at::Tensor& all) { group.AllReduce(all); };
}

class ReplicatedAdamW final : public FlatAdamW {
 public:
  ReplicatedAdamW(const std::vector<at::Tensor>& parameters,
                  const AdamWOptions& options, ProcessGroup& group)
      : FlatAdamW(parameters, group, AllReduceOf(group)) {
    Own(parameters, options);
  }
};

// Makes each parameter a view of one buffer, without changing its values.
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

class ShardedAdamW final : public FlatAdamW {
 public:
  ShardedAdamW(const std::vector<at::Tensor>& parameters,
               const AdamWOptions& options, ProcessGroup& group)
      : FlatAdamW(parameters, group,
                  [&group](const at::Tensor& all) {
                    group.ReduceScatter(group.ChunkOf(all), all);
                  }),
        parameters_(FlattenInPlace(parameters, group.size())),
        shard_(group.ChunkOf(parameters_)) {
    Own({shard_}, options);
  }

  void Finish() override {
    FlatAdamW::Finish();
    shard_.mutable_grad() = group().ChunkOf(gradients());
  }
  void Update() override {
    FlatAdamW::Update();
    shard_.mutable_grad().reset();
  }
  bool shares_parameters() const override { return true; }
  void ShareParameters() override {
    if (exchanges()) group().AllGather(parameters_, shard_);
  }

 private:
  at::Tensor parameters_;  // all parameters, padded
  at::Tensor shard_;       // this rank's shard of them
};

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

class BroadcastAdamW final : public FlatAdamW {
 public:
  BroadcastAdamW(const std::vector<at::Tensor>& parameters,
                 const AdamWOptions& options, ProcessGroup& group)
      : FlatAdamW(parameters, group, AllReduceOf(group)),
        parameters_(parameters),
        owners_(OwnersOf(parameters, group.size())) {
    Own(OwnedBy(group.rank(), parameters, owners_), options);
  }

  bool shares_parameters() const override { return true; }
  void ShareParameters() override {
    if (!exchanges()) return;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      group().Broadcast(parameters_[i].detach(), owners_[i]);
    }
  }

 private:
  std::vector<at::Tensor> parameters_;
  std::vector<int> owners_;  // by parameter
};

}  // namespace

std::unique_ptr<ParallelTrainer> MakeShardedOptimizer(
    OptimizerSharding sharding, const std::vector<at::Tensor>& parameters,
    const AdamWOptions& options, ProcessGroup& group) {
  switch (sharding) {
    case OptimizerSharding::kReplicated:
      return std::make_unique<ReplicatedAdamW>(parameters, options, group);
    case OptimizerSharding::kSharded:
      return std::make_unique<ShardedAdamW>(parameters, options, group);
    case OptimizerSharding::kBroadcast:
      return std::make_unique<BroadcastAdamW>(parameters, options, group);
  }
  TORCH_CHECK(false, "no such sharding: ", static_cast<int>(sharding));
}

double OptimizerSentBytes(OptimizerSharding sharding, int64_t gradient_bytes,
                          int64_t ranks) {
  const double all_reduced =
      SentBytes(CollectiveKind::kAllReduce, gradient_bytes, ranks);
  return sharding == OptimizerSharding::kBroadcast ? 1.5 * all_reduced
                                                   : all_reduced;
}

}  // namespace trainbench
