// SPDX-License-Identifier: MIT
// Models, batches and groups of ranks that train together.

#ifndef TRAINBENCH_TESTS_MODEL_DISTRIBUTED_PARALLEL_MODELS_H_
#define TRAINBENCH_TESTS_MODEL_DISTRIBUTED_PARALLEL_MODELS_H_

#include <gtest/gtest.h>
#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "model/distributed/comm/process_group.h"
#include "model/distributed/tensor_parallel/tensor_parallel_lm.h"
#include "model/distributed/trainer/parallel_trainer.h"
#include "model/spec/parallel/sharding.h"
#include "model/training/train_step.h"
#include "model/verification/relative_error.h"

namespace trainbench {

// 10 -> 10 -> 50 -> 10 -> 50 -> 5. As in the CS336 assignment's DDP tests, a
// bias is frozen, an unused parameter requires no gradient, and layers share
// weights: the second and the fourth.
class ParallelModel final : public torch::nn::Module {
 public:
  // x [batch, 10] -> [batch, 5].
  at::Tensor forward(const at::Tensor& x) {
    at::Tensor hidden = at::linear(x, fc1_).relu();
    hidden = at::linear(hidden, fc2_, frozen_bias_).relu();
    hidden = at::linear(at::linear(hidden, fc3_).relu(), fc4_).relu();
    return at::linear(hidden, fc5_);
  }

 private:
  at::Tensor Add(const std::string& name, at::IntArrayRef shape,
                 bool trainable = true) {
    return register_parameter(name, at::randn(shape) * 0.3, trainable);
  }

  at::Tensor fc1_ = Add("fc1", {10, 10});
  at::Tensor fc2_ = Add("fc2", {50, 10});
  at::Tensor frozen_bias_ = Add("fc2_bias", {50}, /*trainable=*/false);
  at::Tensor fc3_ = Add("fc3", {10, 50});
  at::Tensor fc4_ = register_parameter("fc4", fc2_);
  at::Tensor fc5_ = Add("fc5", {5, 50});
  at::Tensor fixed_ = Add("no_grad_fixed", {2}, /*trainable=*/false);
};

// x [20, 10] and targets [20, 5], equal on all ranks.
struct ParallelData {
  at::Tensor x, targets;

  static ParallelData Make() {
    auto generator = at::make_generator<at::CPUGeneratorImpl>(7);
    return {at::randn({20, 10}, generator), at::randn({20, 5}, generator)};
  }
  // The shard of rank `rank` of `ranks`.
  ParallelData Part(int rank, int ranks) const {
    return {x.chunk(ranks)[static_cast<std::size_t>(rank)],
            targets.chunk(ranks)[static_cast<std::size_t>(rank)]};
  }
};

inline at::Tensor LossOf(ParallelModel& model, const ParallelData& data) {
  return at::mse_loss(model.forward(data.x), data.targets);
}

inline constexpr FullSharding kFullShardings[] = {
    {.reshard_after_forward = true, .prefetch = true},
    {.reshard_after_forward = true, .prefetch = false},
    {.reshard_after_forward = false, .prefetch = true},
    {.reshard_after_forward = false, .prefetch = false}};

// "reshard 1, prefetch 0".
inline std::string TextOf(const FullSharding& sharding) {
  return c10::str("reshard ", sharding.reshard_after_forward, ", prefetch ",
                  sharding.prefetch);
}

// Sizes d_ff and vocab that neither two nor four ranks divide evenly.
inline ModelConfig MeshConfig(Implementation implementation) {
  return {"m", 24, 42, 2, 4, 37, AttentionOf(implementation), implementation};
}

// Returns a model that is equal on all ranks.
inline TransformerLm Replica(const ModelConfig& config, ProcessGroup& group,
                             uint64_t seed = 0) {
  at::manual_seed(seed + static_cast<uint64_t>(group.rank()));
  TransformerLm model(config, at::TensorOptions());
  BroadcastModel(*model, group);
  return model;
}

inline Batch ShareOf(const Batch& whole, const ProcessGroup& data) {
  return {data.ChunkOf(whole.tokens), data.ChunkOf(whole.targets)};
}

// This rank's place in a group; the other ranks do not exist.
inline std::unique_ptr<ProcessGroup> WithoutOthers(const ProcessGroup& group) {
  return ProcessGroup::Fake(
      {.backend = group.backend(), .rank = group.rank(), .size = group.size()});
}

// Compares the parameters, assembled from the parts of all ranks.
inline void ExpectAssembled(const TransformerLm& part,
                            const TransformerLm& whole, ProcessGroup& group,
                            double limit) {
  const auto expected = whole->named_parameters();
  for (const auto& parameter : part->named_parameters()) {
    const at::Tensor& of_whole = expected[parameter.key()];
    const at::Tensor found =
        Assemble(parameter.value(), of_whole.sizes(), group);
    EXPECT_LE(RelativeError(found, of_whole), limit) << parameter.key();
  }
}

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_MODEL_DISTRIBUTED_PARALLEL_MODELS_H_
