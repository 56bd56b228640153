// SPDX-License-Identifier: MIT

#include "model/accounting/largest_tensor.h"

#include "model/accounting/ledger/step.h"

namespace trainbench {

LargeTensor LargestTensor(const MemoryQuery& query) {
  using enum Component;
  if (!IsCountable(query)) return {"beyond counting", kEmbedding, 0};
  ledger::Ledger ledger;
  {
    // Gradients and moments are as large as their parameters.
    ledger::Step step(query, ledger);
    step.component = kEmbedding;
    step.Make("embedding", step.embedding, step.parameter);
    step.component = kProjections;
    step.Make("projection matrix", step.square, step.parameter);
    step.component = kFfn;
    step.Make("feed-forward matrix", step.d_ff, step.parameter);
  }
  ledger::RunStep(query, ledger);
  LargeTensor largest;
  for (const ledger::TensorRecord& tensor : ledger.tensors()) {
    if (tensor.bytes() <= largest.bytes) continue;
    largest = {tensor.name.Joined(), tensor.component, tensor.bytes()};
  }
  return largest;
}

}  // namespace trainbench
