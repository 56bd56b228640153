// SPDX-License-Identifier: MIT
// A training step on several ranks, for any strategy.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_TRAINER_PARALLEL_TRAINER_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_TRAINER_PARALLEL_TRAINER_H_

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/distributed/comm/process_group.h"
#include "model/nn/transformer_lm.h"
#include "model/spec/phase.h"
#include "model/spec/precision.h"
#include "model/training/adamw.h"
#include "model/training/train_step.h"

namespace trainbench {

// One rank's gradients and optimizer. In each step every rank calls
// BeforeForward, forward and loss, BeforeBackward, backward, Finish, Update and
// ShareParameters. If a collective fails, any call, including backward()
// itself, throws c10::DistError; the ranks then no longer agree and the object
// can no longer be used. (c10d's Reducer lets Gloo's std::exceptions out of
// backward(): call it in Communicate().)
class ParallelTrainer {
 public:
  virtual ~ParallelTrainer() = default;
  ParallelTrainer(const ParallelTrainer&) = delete;
  ParallelTrainer& operator=(const ParallelTrainer&) = delete;

  virtual void BeforeForward() {}
  virtual void BeforeBackward() {}
  // On return this rank has the mean over the ranks of each gradient that it
  // needs. Its duration is exposed communication. Throws c10::Error that names
  // a parameter without a gradient.
  virtual void Finish() = 0;
  // Runs AdamW on what this rank owns. Sends nothing. Releases the gradients,
  // so that they are not allocated in the next forward pass, except a fully
  // sharded rank's shard. The buckets of `ddp/` stay allocated.
  virtual void Update() = 0;
  // Sends the parameters that this rank owns to all ranks and receives theirs.
  virtual void ShareParameters() {}

  // Whether Finish() waits for other ranks, and ShareParameters() sends.
  virtual bool averages_gradients() const { return true; }
  virtual bool shares_parameters() const { return false; }

  // If off, steps send nothing but compute as much (PyTorch's no_sync, for
  // parameters as well), without copies that are only needed for sending. The
  // ranks' parameters then diverge.
  virtual void SetExchanges(bool on) = 0;

  // Gathers all parameters on each rank, to read them, until Free(). If no
  // backward pass follows, Free() also ends a forward pass.
  virtual void Gather() {}
  virtual void Free() {}

  // Updates what this rank owns.
  virtual const AdamW& optimizer() const = 0;

 protected:
  ParallelTrainer() = default;
};

// Runs forward, loss and backward on this rank's `batch`, and waits for the
// mean gradients in Phase::kCommunication. Returns this rank's loss, a detached
// scalar; the job's loss is the mean over ranks.
at::Tensor ComputeMeanGradients(TransformerLm& model, ParallelTrainer& trainer,
                                const Batch& batch, Precision precision,
                                PhaseObserver& observer = NoObserver());

// Runs the rest of the step: Phase::kOptimizer, and Phase::kCommunication if
// parameters are shared.
void UpdateParameters(ParallelTrainer& trainer, PhaseObserver& observer);

// Runs one step: ComputeMeanGradients and UpdateParameters.
at::Tensor RunParallelStep(TransformerLm& model, ParallelTrainer& trainer,
                           const Batch& batch, Precision precision,
                           PhaseObserver& observer = NoObserver());

// The parameters that require a gradient, in the module's order. A tied
// parameter, which parameters() lists once per owner, appears once.
std::vector<at::Tensor> TrainableParameters(const torch::nn::Module& module);

// Replaces each parameter's gradient by the mean over the ranks, one by one.
// Throws c10::Error that names a parameter without a gradient.
void AverageGradients(const std::vector<at::Tensor>& parameters,
                      ProcessGroup& group);

// "parameter 3 [10, 50]".
std::string DescribeParameter(std::size_t index, const at::Tensor& parameter);
// "parameter 3 [10, 50] has no gradient on rank 1".
std::string NoGradient(std::size_t index, const at::Tensor& parameter,
                       const ProcessGroup& group);

// Copies rank 0's parameters, including frozen ones, to all ranks.
void BroadcastModel(const torch::nn::Module& module, ProcessGroup& group);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_TRAINER_PARALLEL_TRAINER_H_
