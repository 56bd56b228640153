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
    if ((tensor.layer == 0) != in_block) continue;
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
  std::array<SavedByComponent, kComponentCount> sums{};
  const auto add = [&](const std::vector<SavedTensor>& tensors, int64_t count) {
    for (const SavedTensor& tensor : tensors) {
      SavedByComponent& sum = sums[static_cast<std::size_t>(tensor.component)];
      sum.elements += count * tensor.elements;
      sum.bytes += count * tensor.bytes();
    }
  };
  add(SavedTensorsOfBlock(query), query.config.layers);
  add(SavedTensorsOutsideBlocks(query), 1);
  std::vector<SavedByComponent> saved;
  for (const Component component : kComponents) {
    SavedByComponent& sum = sums[static_cast<std::size_t>(component)];
    sum.component = component;
    if (sum.bytes > 0) saved.push_back(sum);
  }
  return saved;
}

}  // namespace trainbench
