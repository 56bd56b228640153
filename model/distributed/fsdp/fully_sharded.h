// SPDX-License-Identifier: MIT
// Fully sharded data parallelism (ZeRO stage 3: Rajbhandari et al. 2020; Zhao
// et al. 2023, PyTorch FSDP): a rank keeps its shard of parameters, gradients
// and AdamW's state, and gathers parameters while it uses them.
//
// Units, in the order of use: the embeddings, each block, and the head with the
// last norm. Per rank and step, for Psi bytes of parameters as gathered, of
// which Psi_b in blocks, over N ranks and with f = (N - 1) / N:
//
//                                  sent
//   all-gather, forward            f Psi
//   all-gather, backward           f Psi_b, if blocks are resharded
//   reduce-scatter of gradients    f bytes of gradients in the shards' dtype
//
// Where R groups of N ranks have a replica of the model each (hybrid sharding),
// ranks with the same shard average its gradient by an all-reduce, which sends
// 2 (R - 1) / R of a shard's bytes.
//
// The embedding is freed after its lookup, whose backward pass needs no weight;
// the head, and an embedding that is tied to it, is kept until its gradients
// are there. model/distributed/fsdp/full_sharding_traffic.h has calls and
// bytes.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_FSDP_FULLY_SHARDED_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_FSDP_FULLY_SHARDED_H_

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "model/distributed/comm/process_group.h"
#include "model/distributed/ddp/gradient_hooks.h"
#include "model/distributed/fsdp/sharded_unit.h"
#include "model/distributed/trainer/parallel_trainer.h"
#include "model/nn/transformer_lm.h"
#include "model/spec/parallel/full_sharding.h"
#include "model/training/adamw.h"

namespace trainbench {

// One rank's model and optimizer. Blocks may be recomputed in the backward
// pass: a recomputed block gathers its parameters, and keeps them for its own
// backward pass.
//
// With prefetch, at most one all-gather is in flight: that of the next unit, in
// the order of the pass. And at most one reduce-scatter: that of the last unit
// whose gradients are complete. All-reduces over replicas are in flight until
// Finish(). Without, each collective waits for itself.
class FullySharded final : public ParallelTrainer {
 public:
  // The model's parameters are equal on all ranks and stay the shards' dtype.
  // From now on they are of `gathered_type`, and there only where a step needs
  // them: bf16 with shards of fp32 is mixed precision. The model and the groups
  // must outlive this object, after which the model is of no use.
  //
  // `group` has the ranks that share a replica of the model, `replicas` those
  // with the same shard of it: rows and columns of a mesh, which all have equal
  // parameters and batches of their own.
  FullySharded(TransformerLm model, const FullSharding& sharding,
               c10::ScalarType gathered_type, const AdamWOptions& options,
               ProcessGroup& group, ProcessGroup* replicas = nullptr);
  ~FullySharded() override;

  void BeforeForward() override;
  void BeforeBackward() override;
  // Waits for the last gradients: on return this rank's shard of the mean is
  // there, and nothing is gathered.
  void Finish() override;
  void Update() override { adamw_.Step(); }
  void Gather() override;
  void Free() override;
  // Off, another rank's parameters are copies of this rank's, and gradients are
  // this rank's own. Ranks that share the model's matrices go on exchanging.
  void SetExchanges(bool on) override;
  int64_t StateBytes() const override { return adamw_.StateBytes(); }

 private:
  void BeforeBlock(std::size_t unit);
  void AfterBlock(std::size_t unit, const ResidualStream& output);
  // Returns when the unit is gathered. Starts the next one in this direction.
  void Use(std::size_t unit);
  void OnGradient(std::size_t index);

  std::size_t first_block() const { return 1; }
  std::size_t last_block() const { return units_.size() - 2; }
  std::size_t head() const { return units_.size() - 1; }

  TransformerLm model_;
  ProcessGroup& group_;
  FullSharding sharding_;
  std::deque<ShardedUnit> units_;
  // By parameter: its unit, and its index there.
  std::vector<std::pair<std::size_t, std::size_t>> places_;
  std::vector<bool> heard_;  // by parameter: its gradient is there
  GradientHooks hooks_;
  AdamW adamw_;
  bool in_backward_ = false;
  ShardedUnit* reducing_ = nullptr;  // in flight
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_FSDP_FULLY_SHARDED_H_
