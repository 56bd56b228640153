// SPDX-License-Identifier: MIT
// Fully sharded data parallelism (ZeRO stage 3: Rajbhandari et al. 2020; Zhao
// et al. 2023, PyTorch FSDP): a rank keeps its shard of parameters, gradients
// and AdamW's state, and gathers parameters only while it uses them.
//
// Units, in the order of use: the embeddings, each block, and the last norm
// with the head. Per rank and step, for Psi bytes of gathered parameters,
// including Psi_b in blocks, over N ranks and with f = (N - 1) / N:
//
//                                  sent
//   all-gather, forward            f Psi
//   all-gather, backward           f Psi_b, if blocks are resharded
//   reduce-scatter of gradients    f bytes of gradients (dtype of the shards)
//
// If R groups of N ranks each have a replica of the model (hybrid sharding),
// ranks with the same shard average its gradient by an all-reduce, which sends
// 2 (R - 1) / R of a shard's bytes.
//
// The embedding is freed after its lookup, because its backward pass needs no
// weight. The head, and an embedding that is tied to it, are kept until their
// gradients are ready. Calls and bytes are in
// model/distributed/fsdp/full_sharding_traffic.h.

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
#include "model/spec/parallel/sharding.h"
#include "model/training/adamw.h"

namespace trainbench {

// One rank's model and optimizer. Blocks may be recomputed in the backward
// pass: a recomputed block gathers its parameters and keeps them for its own
// backward pass.
//
// With prefetch, at most one all-gather is in flight, for the next unit in the
// order of the pass, and at most one reduce-scatter, for the last unit with
// complete gradients. All-reduces over replicas are in flight until Finish().
// Without prefetch, each collective is awaited at once.
class FullySharded final : public ParallelTrainer {
 public:
  // The model's parameters must be equal on all ranks; the shards keep their
  // dtype. From now on the parameters have `gathered_type` and exist only while
  // a step needs them: bf16 with fp32 shards is mixed precision. The model and
  // the groups must outlive this object; the model cannot be used after it.
  //
  // `group` has the ranks that share a replica of the model, `replicas` the
  // ranks with the same shard: the rows and columns of a mesh. All ranks of the
  // mesh have equal parameters and different batches.
  FullySharded(TransformerLm model, const FullSharding& sharding,
               c10::ScalarType gathered_type, const AdamWOptions& options,
               ProcessGroup& group, ProcessGroup* replicas = nullptr);
  ~FullySharded() override;

  void BeforeForward() override;
  void BeforeBackward() override;
  // Waits for the last gradients: on return, this rank has its shard of the
  // mean gradient, and no parameters are gathered.
  void Finish() override;
  void Update() override { adamw_.Step(); }
  void Gather() override;
  void Free() override;
  // If off, other ranks' parameters are copies of this rank's shard and
  // gradients are not averaged. Tensor parallelism continues to exchange.
  void SetExchanges(bool on) override;
  const AdamW& optimizer() const override { return adamw_; }

 private:
  void BeforeBlock(std::size_t unit);
  void AfterBlock(std::size_t unit, const ResidualStream& output);
  // Waits until the unit is gathered. With prefetch, starts the next one.
  void Use(std::size_t unit);
  void OnGradient(std::size_t index);

  std::size_t first_block() const { return 1; }
  std::size_t last_block() const { return units_.size() - 2; }
  std::size_t head() const { return units_.size() - 1; }

  TransformerLm model_;
  ProcessGroup& group_;
  FullSharding sharding_;
  std::deque<ShardedUnit> units_;
  // By parameter: its unit, and its index in the unit.
  std::vector<std::pair<std::size_t, std::size_t>> places_;
  std::vector<bool> heard_;  // by parameter: its gradient is complete
  GradientHooks hooks_;
  AdamW adamw_;
  bool in_backward_ = false;
  ShardedUnit* reducing_ = nullptr;  // the unit with a reduce-scatter in flight
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_FSDP_FULLY_SHARDED_H_
