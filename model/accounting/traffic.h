// SPDX-License-Identifier: MIT
// Bytes that a step must move between the device and its memory at the least.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_TRAFFIC_H_
#define TRAINBENCH_MODEL_ACCOUNTING_TRAFFIC_H_

#include "model/accounting/memory.h"

namespace trainbench {

// One AdamW update reads parameter, gradient and both moments and writes all
// but the gradient: 7 values per parameter, 28 bytes in fp32, 14 in bf16.
double OptimizerBytes(const MemoryQuery& query);

// Compulsory traffic of one step: the forward pass reads every parameter and
// writes what it saves (with inference: only the logits); the backward pass
// reads both again and writes the gradients; the optimizer as above. Caches
// larger than a tensor can beat it, real kernels move more.
double StepBytes(const MemoryQuery& query);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_TRAFFIC_H_
