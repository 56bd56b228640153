// SPDX-License-Identifier: MIT

#include "model/distributed/zero/sharded_optimizer.h"

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "model/distributed/ddp/flat_buffer.h"
#include "model/distributed/ddp/overlap_base.h"
#include "model/distributed/zero/ownership.h"

namespace trainbench {
namespace {

// Moves each gradient, divided by the number of ranks, into one buffer while
// the backward pass goes on. Finish() then reduces the buffer in one call. It
// lasts from the first gradient until Release().
class FlatGradients final : public OverlapBase {
 public:
  // [elements, rounded up to a multiple of the ranks] -> summed over the ranks.
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

class ReplicatedAdamW : public ParallelTrainer {
 public:
  // `owned`: what this rank updates.
  ReplicatedAdamW(const std::vector<at::Tensor>& parameters,
                  const std::vector<at::Tensor>& owned,
                  const AdamWOptions& options, ProcessGroup& group)
      : group_(group),
        gradients_(parameters, group,
                   [this](const at::Tensor& values) {
                     if (exchanges_) Reduce(values);
                   }),
        adamw_(owned, AdamWKind::kFused, options) {}

  void Finish() override { gradients_.Finish(); }
  void Update() override {
    adamw_.Step();
    gradients_.Release();
  }
  void SetExchanges(bool on) override { exchanges_ = on; }
  int64_t StateBytes() const override { return adamw_.StateBytes(); }

 protected:
  ProcessGroup& group() const { return group_; }
  bool exchanges() const { return exchanges_; }
  const at::Tensor& gradients() const { return gradients_.values(); }
  virtual void Reduce(const at::Tensor& values) { group_.AllReduce(values); }

 private:
  ProcessGroup& group_;
  FlatGradients gradients_;
  AdamW adamw_;
  bool exchanges_ = true;
};

// This rank's shard of [N * n] values.
at::Tensor MyPart(const at::Tensor& values, const ProcessGroup& group) {
  const int64_t n = values.numel() / group.size();
  return values.narrow(0, group.rank() * n, n);
}

// All parameters, which become views of one buffer with their values unchanged,
// and this rank's shard of it.
struct Shard {
  Shard(const std::vector<at::Tensor>& parameters, const ProcessGroup& group) {
    const at::NoGradGuard no_grad;
    const FlatBuffer buffer = MakeFlatBuffer(parameters, group.size());
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      buffer.views[i].copy_(parameters[i]);
      parameters[i].set_data(buffer.views[i]);
    }
    all = buffer.values;
    mine = MyPart(all, group);
  }
  at::Tensor all, mine;
};

class ShardedAdamW final : public ReplicatedAdamW {
 public:
  ShardedAdamW(const std::vector<at::Tensor>& parameters, const Shard& shard,
               const AdamWOptions& options, ProcessGroup& group)
      : ReplicatedAdamW(parameters, {shard.mine}, options, group),
        shard_(shard) {}

  void Finish() override {
    ReplicatedAdamW::Finish();
    shard_.mine.mutable_grad() = MyPart(gradients(), group());
  }
  void Update() override {
    ReplicatedAdamW::Update();
    shard_.mine.mutable_grad().reset();
  }
  bool shares_parameters() const override { return true; }
  void ShareParameters() override {
    if (exchanges()) group().AllGather(shard_.all, shard_.mine);
  }

 private:
  void Reduce(const at::Tensor& values) override {
    group().ReduceScatter(MyPart(values, group()), values);
  }

  Shard shard_;
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

class BroadcastAdamW final : public ReplicatedAdamW {
 public:
  BroadcastAdamW(const std::vector<at::Tensor>& parameters,
                 std::vector<int> owners, const AdamWOptions& options,
                 ProcessGroup& group)
      : ReplicatedAdamW(parameters, OwnedBy(group.rank(), parameters, owners),
                        options, group),
        parameters_(parameters),
        owners_(std::move(owners)) {}

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
      return std::make_unique<ReplicatedAdamW>(parameters, parameters, options,
                                               group);
    case OptimizerSharding::kSharded:
      return std::make_unique<ShardedAdamW>(
          parameters, Shard(parameters, group), options, group);
    case OptimizerSharding::kBroadcast:
      return std::make_unique<BroadcastAdamW>(
          parameters, OwnersOf(parameters, group.size()), options, group);
  }
  TORCH_CHECK(false, "no such sharding: ", static_cast<int>(sharding));
}

}  // namespace trainbench
