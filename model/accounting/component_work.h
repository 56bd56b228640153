// SPDX-License-Identifier: MIT
// The work of a step, component by component.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_COMPONENT_WORK_H_
#define TRAINBENCH_MODEL_ACCOUNTING_COMPONENT_WORK_H_

#include <string>
#include <vector>

#include "model/accounting/memory.h"

namespace trainbench {

struct ComponentWork {
  std::string name;
  double flops = 0;  // of matrix products
  double bytes = 0;  // compulsory traffic
};

// "embedding"; "attention" and "ffn", of all blocks, each with the norm before
// it; "head", with the last norm and the loss; "optimizer" of a train step.
// They add up to StepFlops and StepBytes. Empty if the job is not countable.
std::vector<ComponentWork> StepComponents(const MemoryQuery& query);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_COMPONENT_WORK_H_
