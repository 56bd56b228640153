// SPDX-License-Identifier: MIT

#include "model/accounting/parallel/full_sharding_memory.h"

#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "model/accounting/ledger/ledger.h"
#include "model/accounting/ledger/step.h"
#include "model/accounting/ledger/units.h"
#include "model/accounting/parallel/full_sharding.h"
#include "model/accounting/parallel/parallel_memory.h"
#include "model/accounting/parameters.h"

namespace trainbench {
namespace {

using ledger::Tensor;
using ledger::TensorType;

// A unit's elements: of its parameters, and rounded up.
struct UnitSize {
  const char* values;  // names of the buffers
  const char* gradients;
  int64_t parameters = 0;
  int64_t padded = 0;
};

// model/distributed/fsdp: FullySharded and ShardedUnit.
class ShardedUnits final : public ledger::Units {
 public:
  ShardedUnits(const MemoryQuery& query, const FullSharding& sharding,
               int ranks, CommBackend backend, ledger::Ledger& ledger)
      : ledger_(ledger),
        sharding_(sharding),
        ranks_(ranks),
        backend_(backend),
        type_(GatheredWidth(query.precision) == 2 ? TensorType::kBfloat16
                                                  : TensorType::kFloat),
        last_(query.config.layers - 1) {
    const std::vector<int64_t> padded = UnitElements(query.config, ranks);
    const int64_t embedding = query.config.vocab * query.config.d_model;
    embedding_ = {"gathered embedding", "gradients of the embedding", embedding,
                  padded.front()};
    block_ = {"gathered parameters of a block", "gradients of a block",
              BlockParameters(query.config), padded[1]};
    head_ = {"gathered head", "gradients of the head",
             query.config.d_model + embedding, padded.back()};
  }

  void BeforeForward() override {
    of_embedding_ = Gather(embedding_);
    if (sharding_.prefetch) next_ = Gather(block_);
  }

  void BeforeBlock(int64_t layer) override {
    if (!in_backward_ && layer == 0) of_embedding_.Reset();
    Use(layer);
  }

  void AfterBlock(int64_t layer) override {
    if (in_backward_) return;
    if (sharding_.reshard_after_forward) gathered_.erase(layer);
    if (layer == last_) of_head_ = next_ ? std::move(next_) : Gather(head_);
  }

  void BeforeBackward() override {
    in_backward_ = true;
    if (sharding_.prefetch && sharding_.reshard_after_forward) {
      next_ = Gather(block_);
    }
  }

  void BeforeBlockBackward(int64_t layer) override { Use(layer); }

  void TakeGradient(Tensor gradient) override {
    const UnitSize& unit = Completing();
    if (!gradients_) gradients_ = Make(unit.gradients, kFloat, unit.padded);
    taken_bytes_ += gradient.bytes();
    if (taken_bytes_ < ledger::BytesPerElement(type_) * unit.parameters) return;
    taken_bytes_ = 0;
    if (of_head_) {
      of_head_.Reset();
    } else if (!gathered_.empty()) {
      gathered_.erase(std::prev(gathered_.end()));
    }
    Reduce(unit);
  }

 private:
  static constexpr TensorType kFloat = TensorType::kFloat;

  Tensor Make(const char* name, TensorType type, int64_t elements) {
    return ledger_.Make(name, Component::kOptimizer, {"", elements}, type);
  }
  Tensor Gather(const UnitSize& unit) {
    return Make(unit.values, type_, unit.padded);
  }

  // Blocks are alike, so what was gathered ahead serves whichever is next: of
  // recomputed segments the first and not the last.
  void Use(int64_t layer) {
    if (!gathered_.contains(layer)) {
      gathered_[layer] = next_ ? std::move(next_) : Gather(block_);
    }
    if (!sharding_.prefetch || next_) return;
    if (!in_backward_) {
      next_ = Gather(layer == last_ ? head_ : block_);
    } else if (sharding_.reshard_after_forward && layer > 0) {
      next_ = Gather(block_);
    }
  }

  // The unit whose gradients come: the head's first, then the blocks'.
  const UnitSize& Completing() const {
    if (of_head_) return head_;
    return gathered_.empty() ? embedding_ : block_;
  }

  void Reduce(const UnitSize& unit) {
    const int64_t shard = unit.padded / ranks_;
    const bool gloo = backend_ == CommBackend::kGloo;
    if (!sharding_.prefetch) {
      const int64_t ring = RingBufferElements(unit.padded, ranks_);
      if (gloo) Make("buffer of the ring", kFloat, ring);
      gradients_.Reset();
      return;
    }
    received_.Reset();
    reducing_ = std::move(gradients_);
    if (gloo) {
      received_ = Make("received gradients", kFloat, shard * (ranks_ - 1));
    }
  }

  ledger::Ledger& ledger_;
  const FullSharding sharding_;
  const int ranks_;
  const CommBackend backend_;
  const TensorType type_;  // as gathered
  const int64_t last_;     // block
  UnitSize embedding_, block_, head_;
  bool in_backward_ = false;
  Tensor of_embedding_, of_head_;
  std::map<int64_t, Tensor> gathered_;  // by block
  Tensor next_;                         // gathered ahead
  Tensor gradients_;                    // of the unit that is being completed
  int64_t taken_bytes_ = 0;             // of them, as they came
  Tensor reducing_, received_;
};

}  // namespace

FullShardingMemory EstimateFullSharding(const MemoryQuery& query,
                                        const FullSharding& sharding, int ranks,
                                        CommBackend backend) {
  FullShardingMemory memory;
  if (!IsCountable(query)) {
    memory.peak = {"beyond counting", std::numeric_limits<int64_t>::max()};
    return memory;
  }
  MemoryQuery step = query;
  step.mode = StepMode::kForwardBackward;
  const std::vector<int64_t> units = UnitElements(query.config, ranks);
  const int64_t shard =
      std::accumulate(units.begin(), units.end(), int64_t{0}) / ranks;
  memory.shard_bytes = memory.gradient_shard_bytes = 4 * shard;
  memory.optimizer_bytes = 8 * shard + 4 * static_cast<int64_t>(units.size());
  memory.input_bytes = EstimateMemory(step).input_bytes;
  ledger::Ledger ledger;
  ledger.Add(memory.resident_bytes() + memory.input_bytes);
  ShardedUnits sharded(step, sharding, ranks, backend, ledger);
  ledger::RunStep(step, ledger, &sharded);
  const ledger::LedgerMoment& peak = ledger.peak();
  memory.peak = {peak.name.Joined(), peak.bytes, peak.gradient_bytes};
  for (const ledger::TensorRecord& tensor : ledger.AliveAfter(peak.event)) {
    if (tensor.bytes() <= memory.largest_at_peak_bytes) continue;
    memory.largest_at_peak = tensor.name.Joined();
    memory.largest_at_peak_bytes = tensor.bytes();
  }
  return memory;
}

}  // namespace trainbench
