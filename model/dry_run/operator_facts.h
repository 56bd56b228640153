// SPDX-License-Identifier: MIT
// What holds for every call of an operator.

#ifndef TRAINBENCH_MODEL_DRY_RUN_OPERATOR_FACTS_H_
#define TRAINBENCH_MODEL_DRY_RUN_OPERATOR_FACTS_H_

#include <ATen/core/dispatch/Dispatcher.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "model/dry_run/operators.h"

namespace trainbench::dry {

struct OperatorFacts {
  // Whether the operator reads the tensors of an argument, and writes them.
  struct Access {
    bool reads, writes;
  };
  struct OnDevice {
    Kernel stated;  // null unless operators.h defines the operator's work
    // Whether the operator runs unchanged because it calls other operators,
    // which run dry as well.
    bool is_composite;
  };
  std::vector<Access> arguments = {};
  std::optional<std::size_t> dtype = {};  // the index of this argument
  // Reads as many bytes of its first argument as it returns.
  bool picks_values;
  bool makes_no_values;  // returns views or uninitialized memory
  bool is_pointwise;
  OnDevice on_cpu;
  OnDevice on_cuda;
};

// Looks the facts up at an operator's first call on this thread.
const OperatorFacts& FactsOf(const c10::OperatorHandle& op);

}  // namespace trainbench::dry

#endif  // TRAINBENCH_MODEL_DRY_RUN_OPERATOR_FACTS_H_
