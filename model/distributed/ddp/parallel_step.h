// SPDX-License-Identifier: MIT
// One step of data-parallel training on one rank.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_PARALLEL_STEP_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_PARALLEL_STEP_H_

#include <ATen/core/Tensor.h>

#include "model/distributed/ddp/gradient_sync.h"
#include "model/nn/transformer_lm.h"
#include "model/spec/phase.h"
#include "model/spec/precision.h"
#include "model/training/adamw.h"
#include "model/training/train_step.h"

namespace trainbench {

// Forward, loss and backward on this rank's `batch`; the exposed exchange of
// gradients (Phase::kCommunication); AdamW on the mean; release of the
// gradients. `optimizer` and `sync` have the parameters of `model`, which are
// equal on all ranks. Returns this rank's loss, a detached scalar; the job's
// loss is the mean over ranks.
at::Tensor RunParallelStep(TransformerLm& model, AdamW& optimizer,
                           GradientSync& sync, const Batch& batch,
                           Precision precision, PhaseObserver& observer);

// The same step without an exchange: AdamW on this rank's gradients, which a
// GradientSync of the parameters does not see. The replicas then differ.
void RunUnsynchronizedStep(TransformerLm& model, AdamW& optimizer,
                           const Batch& batch, Precision precision);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_PARALLEL_STEP_H_
