// SPDX-License-Identifier: MIT

#include "model/distributed/zero/sharded_optimizer.h"

#include <torch/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "model/distributed/comm/traffic.h"
#include "model/distributed/ddp/flat_buffer.h"
#include "model/distributed/ddp/gradient_sync.h"

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

// Makes each parameter a view of one buffer, without changing its values.
at::Tensor FlattenInPlace(const std::vector<at::Tensor>& parameters,
                          int multiple) {
  const FlatBuffer buffer = Flattened(parameters, multiple);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].set_data(buffer.views[i]);
  }
  return buffer.values;
}

// AdamW with the gradients in one flat buffer.
class FlatAdamW final : public ParallelTrainer {
 public:
  FlatAdamW(OptimizerSharding sharding,
            const std::vector<at::Tensor>& parameters,
            const AdamWOptions& options, ProcessGroup& group)
      : sharding_(sharding),
        group_(group),
        parameters_(parameters),
        gradients_(parameters, group,
                   [this](const at::Tensor& all) { Reduce(all); }) {
    std::vector<at::Tensor> updated;
    switch (sharding) {
      case OptimizerSharding::kReplicated:
        updated = parameters;
        break;
      case OptimizerSharding::kSharded:
        flat_parameters_ = FlattenInPlace(parameters, group.size());
        shard_ = group.ChunkOf(flat_parameters_);
        updated = {shard_};
        break;
      case OptimizerSharding::kBroadcast:
        owners_ = AssignOwners(parameters, group.size());
        for (std::size_t i = 0; i < parameters.size(); ++i) {
          if (owners_[i] == group.rank()) updated.push_back(parameters[i]);
        }
        break;
    }
    adamw_.emplace(updated, AdamWKind::kFused, options);
  }

  void Finish() override {
    gradients_.Finish();
    if (!has_shard()) return;
    shard_.mutable_grad() = group_.ChunkOf(gradients_.values());
  }
  void Update() override {
    adamw_->Step();
    gradients_.Release();
    if (has_shard()) shard_.mutable_grad().reset();
  }
  bool shares_parameters() const override {
    return sharding_ != OptimizerSharding::kReplicated;
  }
  void ShareParameters() override {
    if (!exchanges_) return;
    if (has_shard()) group_.AllGather(flat_parameters_, shard_);
    for (std::size_t i = 0; i < owners_.size(); ++i) {
      group_.Broadcast(parameters_[i].detach(), owners_[i]);
    }
  }
  void SetExchanges(bool on) override {
    exchanges_ = on;
    // A shard's gradient is a chunk of the buffer in any case.
    if (!has_shard()) gradients_.SetExchanges(on);
  }
  const AdamW& optimizer() const override { return *adamw_; }

 private:
  bool has_shard() const { return sharding_ == OptimizerSharding::kSharded; }

  void Reduce(const at::Tensor& all) {
    if (!exchanges_) return;
    if (has_shard()) {
      group_.ReduceScatter(group_.ChunkOf(all), all);
    } else {
      group_.AllReduce(all);
    }
  }

  const OptimizerSharding sharding_;
  ProcessGroup& group_;
  std::vector<at::Tensor> parameters_;
  FlatGradients gradients_;             // validates the parameters
  at::Tensor flat_parameters_, shard_;  // padded; only for kSharded
  std::vector<int> owners_;             // by parameter; only for kBroadcast
  std::optional<AdamW> adamw_;
  bool exchanges_ = true;
};

}  // namespace

std::vector<int> AssignOwners(const std::vector<at::Tensor>& tensors,
                              int ranks) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) {
                     return tensors[a].numel() > tensors[b].numel();
                   });
  std::vector<int64_t> owned(static_cast<std::size_t>(ranks), 0);
  std::vector<int> owners(tensors.size());
  for (const std::size_t i : order) {
    const auto least = std::min_element(owned.begin(), owned.end());
    owners[i] = static_cast<int>(least - owned.begin());
    *least += tensors[i].numel();
  }
  return owners;
}

std::unique_ptr<ParallelTrainer> MakeShardedOptimizer(
    OptimizerSharding sharding, const std::vector<at::Tensor>& parameters,
    const AdamWOptions& options, ProcessGroup& group) {
  return std::make_unique<FlatAdamW>(sharding, parameters, options, group);
}

double OptimizerSentBytes(OptimizerSharding sharding, int64_t gradient_bytes,
                          int64_t ranks) {
  const double all_reduced =
      SentBytes(CollectiveKind::kAllReduce, gradient_bytes, ranks);
  return sharding == OptimizerSharding::kBroadcast ? 1.5 * all_reduced
                                                   : all_reduced;
}

}  // namespace trainbench
