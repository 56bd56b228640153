// SPDX-License-Identifier: MIT
// The tensors that a step keeps from its forward to its backward pass, one by
// one: what SavedBytes adds up.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_SAVED_TENSORS_H_
#define TRAINBENCH_MODEL_ACCOUNTING_SAVED_TENSORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/accounting/memory.h"
#include "model/spec/component.h"

namespace trainbench {

struct SavedTensor {
  std::string name;     // "exp(scores)"
  Component component;  // whose operators make it
  std::string formula;  // its elements, in sizes of the model: "B h T^2"
  std::string dtype;    // "float", "bfloat16", "long", "bool"
  int64_t elements = 0;

  int64_t bytes() const;
};

// Of one block, in the order in which the forward pass makes them; of inference
// none. The residual stream counts where it is made: before the second norm and
// after the block. Where blocks are recomputed, what the last block of a
// segment makes for the next one is all that is saved.
std::vector<SavedTensor> SavedTensorsOfBlock(const MemoryQuery& query);

// Outside the blocks: of the embedding, the last norm and the head; of
// inference none. The logits are not saved.
std::vector<SavedTensor> SavedTensorsOutsideBlocks(const MemoryQuery& query);

// What a component saves in the whole step.
struct SavedByComponent {
  Component component;
  int64_t elements = 0;
  int64_t bytes = 0;
};

// In the order of kComponents, those that save something; together SavedBytes.
// Empty if the job is not countable, and of inference.
std::vector<SavedByComponent> SavedComponents(const MemoryQuery& query);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_SAVED_TENSORS_H_
