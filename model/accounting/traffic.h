// SPDX-License-Identifier: MIT
// Compulsory memory traffic: the fewest bytes that a step moves between the
// device and its memory.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_TRAFFIC_H_
#define TRAINBENCH_MODEL_ACCOUNTING_TRAFFIC_H_

#include <cstdint>

#include "model/spec/step_params.h"

namespace trainbench {

// One AdamW update reads parameter, gradient and both moments and writes all
// but the gradient: 7 values per parameter, 28 bytes in fp32, 14 in bf16.
double OptimizerBytes(const ModelConfig& config, Precision precision);

// Bytes of the residual stream and of the logits: 4 per value; 2 in bf16 and,
// for the logits, under autocast.
int64_t ResidualBytes(const StepParams& step);
int64_t LogitBytes(const StepParams& step);

// Compulsory traffic of one step that saves `saved_bytes` for its backward
// pass, not including the logits. The forward pass reads every parameter, but
// of the tables that embed the input only a row per token and position, and
// writes what it saves (inference: only the logits); the backward pass reads
// both again, but not those tables, and writes the gradients; the optimizer
// moves OptimizerBytes. Recomputed blocks read their parameters a third time.
// Caches larger than a tensor can move less; real kernels move more.
double StepBytes(const StepParams& step, int64_t saved_bytes);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_TRAFFIC_H_
