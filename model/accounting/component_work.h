// SPDX-License-Identifier: MIT
// The work of a step, component by component.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_COMPONENT_WORK_H_
#define TRAINBENCH_MODEL_ACCOUNTING_COMPONENT_WORK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/spec/step_params.h"

namespace trainbench {

// What a step keeps from its forward to its backward pass.
struct SavedBytes {
  int64_t attention = 0;  // of all layers, the norms before it included
  int64_t ffn = 0;        // likewise
  int64_t head = 0;       // the last norm's and the head's; not the logits

  int64_t all() const { return attention + ffn + head; }
};

struct ComponentWork {
  std::string name;
  double flops = 0;  // of matrix products
  double bytes = 0;  // compulsory traffic
};

// "embedding"; "attention" and "ffn", of all blocks, each with the norm before
// it; "head", with the last norm and the loss; "optimizer" of a train step.
// They add up to StepFlops and StepBytes.
std::vector<ComponentWork> StepComponents(const StepParams& step,
                                          const SavedBytes& saved);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_COMPONENT_WORK_H_
