// SPDX-License-Identifier: MIT

#include "model/accounting/saved_tensors.h"

#include <array>
#include <cstddef>

#include "model/accounting/ledger/step.h"

namespace trainbench {
namespace {

// Of a model with one block.
std::vector<SavedTensor> SavedTensors(const MemoryQuery& query, bool in_block) {
  std::vector<SavedTensor> saved;
  if (query.mode == StepMode::kInference || !IsCountable(query)) return saved;
  for (const ledger::TensorRecord& tensor : ledger::KeptByOneBlock(query)) {
    if (tensor.layer != (in_block ? 0 : -1)) continue;
    saved.push_back({tensor.name.Joined(), tensor.component,
                     tensor.size.formula, ledger::TypeName(tensor.type),
                     tensor.size.elements});
  }
  return saved;
}

}  // namespace

int64_t SavedTensor::bytes() const {
  for (const ledger::TensorType type :
       {ledger::TensorType::kFloat, ledger::TensorType::kBfloat16,
        ledger::TensorType::kLong, ledger::TensorType::kBool}) {
    if (dtype == ledger::TypeName(type))
      return ledger::BytesPerElement(type) * elements;
  }
  return 0;
}

std::vector<SavedTensor> SavedTensorsOfBlock(const MemoryQuery& query) {
  return SavedTensors(query, /*in_block=*/true);
}

std::vector<SavedTensor> SavedTensorsOutsideBlocks(const MemoryQuery& query) {
  return SavedTensors(query, /*in_block=*/false);
}

std::vector<SavedByComponent> SavedComponents(const MemoryQuery& query) {
  std::vector<SavedByComponent> saved;
  if (query.mode == StepMode::kInference || !IsCountable(query)) return saved;
  MemoryQuery forward = query;
  forward.mode = StepMode::kForward;
  ledger::Ledger ledger;
  const ledger::StepEnd end = ledger::RunStep(forward, ledger);
  std::vector<ledger::TensorRecord> kept =
      ledger.AliveAfter(end.forward_events);
  kept.pop_back();  // the logits
  std::array<SavedByComponent, kComponentCount> sums{};
  for (const ledger::TensorRecord& tensor : kept) {
    SavedByComponent& sum = sums[static_cast<std::size_t>(tensor.component)];
    const int64_t count = end.CountOf(tensor.layer);
    sum.elements += count * tensor.size.elements;
    sum.bytes += count * tensor.bytes();
  }
  for (const Component component : kComponents) {
    SavedByComponent& sum = sums[static_cast<std::size_t>(component)];
    sum.component = component;
    if (sum.bytes > 0) saved.push_back(sum);
  }
  return saved;
}

}  // namespace trainbench
