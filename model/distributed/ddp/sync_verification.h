// SPDX-License-Identifier: MIT
// Verifies, before the timing, that a synchronisation gives every rank the
// mean, and an optimizer on ranks the update of one without.

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

// Computes the gradients of this rank's batch without and with `sync`. Compares
// the synchronised gradients with the mean of the local gradients over the
// ranks, in float64: gradient_error (spec/check_log.h). All ranks call it
// together. Leaves no gradients.
absl::Status VerifySync(TransformerLm& model, GradientSync& sync,
                        const Batch& batch, Precision precision,
                        ProcessGroup& group);

// Checks that all ranks' tensors are equal to the last bit, as replicas must be
// after the same steps. FailedPrecondition, on all ranks, names a tensor that
// differs. All ranks call it together.
absl::Status VerifyReplicas(const std::vector<at::Tensor>& tensors,
                            ProcessGroup& group);

// VerifyReplicas, and then compares the parameters after a first step with
// those of another implementation: update_error (spec/check_log.h). All ranks
// call it together.
absl::Status VerifyUpdate(const std::vector<at::Tensor>& found,
                          const std::vector<at::Tensor>& expected,
                          ProcessGroup& group);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_SYNC_VERIFICATION_H_
