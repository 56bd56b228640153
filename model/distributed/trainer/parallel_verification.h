// SPDX-License-Identifier: MIT
// Verifies, before the timing, that a step on several ranks equals one
// process's step on all their batches.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_TRAINER_PARALLEL_VERIFICATION_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_TRAINER_PARALLEL_VERIFICATION_H_

#include <vector>

#include "absl/status/status.h"
#include "model/distributed/comm/process_group.h"
#include "model/distributed/trainer/parallel_trainer.h"
#include "model/nn/transformer_lm.h"
#include "model/spec/precision.h"
#include "model/training/train_step.h"

namespace trainbench {

// Returns the parameter with the gradient that errors in the gradient of
// `parameter` are relative to: `parameter` itself, or the bias of the queries
// for the bias of the keys, if its exact gradient is 0 and the computed one is
// only a rounding error. Unless keys are rotated, their bias adds the same
// value to all scores of a query.
at::Tensor MeasureOf(const TransformerLm& model, const at::Tensor& parameter);

// Computes the gradients of this rank's batch without and with the trainer,
// which must not shard parameters or gradients. Compares the averaged gradients
// with the mean of the local gradients over the ranks, in float64:
// gradient_error (spec/check_log.h). All ranks call it together. Releases the
// gradients.
absl::Status VerifyGradients(TransformerLm& model, ParallelTrainer& trainer,
                             const Batch& batch, Precision precision,
                             ProcessGroup& group);

// Checks that the tensors are finite and equal bit for bit on all ranks, as
// replicas must be after the same steps. FailedPrecondition, on all ranks,
// names a tensor that is not. All ranks call it together.
absl::Status VerifyReplicas(const std::vector<at::Tensor>& tensors,
                            ProcessGroup& group);

// Takes the trainer's first step, and one with `whole`, a model of the same
// config, and AdamW on the mean gradient. Runs VerifyReplicas on the trained
// parameters, then compares them with those in `whole`: moves_error, the share
// that moved wrongly, and, in fp32, update_error; and AdamW's first moments:
// scale_error (spec/check_log.h). All ranks call it together.
absl::Status VerifyUpdate(TransformerLm& model, ParallelTrainer& trainer,
                          TransformerLm& whole, const Batch& batch,
                          Precision precision, ProcessGroup& group);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_TRAINER_PARALLEL_VERIFICATION_H_
