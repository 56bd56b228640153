// SPDX-License-Identifier: MIT
// One step of data-parallel training, as each rank takes it.

#ifndef TRAINBENCH_MODEL_PARALLEL_PARALLEL_STEP_H_
#define TRAINBENCH_MODEL_PARALLEL_PARALLEL_STEP_H_

#include <ATen/core/Tensor.h>

#include "model/adamw.h"
#include "model/parallel/gradient_sync.h"
#include "model/phase.h"
#include "model/precision.h"
#include "model/train_step.h"
#include "model/transformer_lm.h"

namespace trainbench {

// Forward, loss and backward on this rank's `batch`, what of the exchange of
// gradients is left after that (Phase::kCommunication), AdamW on the mean, and
// the release of the gradients. `optimizer` and `sync` have the parameters of
// `model`, which all ranks must have alike. Returns this rank's loss, a
// detached scalar; the job's is the mean over ranks.
at::Tensor RunParallelStep(TransformerLm& model, AdamW& optimizer,
                           GradientSync& sync, const Batch& batch,
                           Precision precision, PhaseObserver& observer);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_PARALLEL_PARALLEL_STEP_H_
