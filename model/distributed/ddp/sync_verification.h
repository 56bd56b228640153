// SPDX-License-Identifier: MIT
// Does a synchronisation give every rank the mean? Asked before it is timed.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_SYNC_VERIFICATION_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_SYNC_VERIFICATION_H_

#include <vector>

#include "absl/status/status.h"
#include "model/distributed/comm/process_group.h"
#include "model/distributed/ddp/gradient_sync.h"
#include "model/nn/transformer_lm.h"
#include "model/spec/precision.h"
#include "model/training/train_step.h"

namespace trainbench {

// Computes the gradients of this rank's batch twice, without `sync` and with
// it, and compares the latter with the mean of the former over the ranks, taken
// in float64. FailedPrecondition names the worst parameter, its relative error
// by the norm of the difference, and what is allowed in its dtype. All ranks
// call it together. Leaves no gradients.
absl::Status VerifySync(TransformerLm& model, GradientSync& sync,
                        const Batch& batch, Precision precision,
                        ProcessGroup& group);

// Whether all ranks' tensors are the same to the last bit, as copies that took
// the same steps have to be. FailedPrecondition, on all of them, says which is
// not. All ranks call it together.
absl::Status VerifyReplicas(const std::vector<at::Tensor>& tensors,
                            ProcessGroup& group);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_SYNC_VERIFICATION_H_
