// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_ACCOUNTING_LARGEST_TENSOR_H_
#define TRAINBENCH_MODEL_ACCOUNTING_LARGEST_TENSOR_H_

#include <cstdint>
#include <string>

#include "model/accounting/memory.h"
#include "model/spec/component.h"

namespace trainbench {

struct LargeTensor {
  std::string name;
  Component component = Component::kEmbedding;
  int64_t bytes = 0;
};

// The largest single tensor of a step, parameters included; of equal ones that
// which is made first. 0 bytes if the job is not countable.
LargeTensor LargestTensor(const MemoryQuery& query);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_LARGEST_TENSOR_H_
