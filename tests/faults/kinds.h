// SPDX-License-Identifier: MIT
// The ways in which an experiment can misbehave.

#ifndef TRAINBENCH_TESTS_FAULTS_KINDS_H_
#define TRAINBENCH_TESTS_FAULTS_KINDS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace trainbench {

struct FaultState {
  int64_t calls = 0;  // calls of Run, including this one
  std::vector<at::Tensor> kept;
};

// A null function does nothing wrong.
struct FaultKind {
  absl::string_view name;
  void (*build)() = nullptr;
  absl::Status (*check)() = nullptr;
  void (*run)(FaultState& state) = nullptr;
  double flops = 0;  // claimed in addition to the true FLOPs
  bool fresh_process = false;
};

// In run order, with a good case before and after the bad ones.
const std::vector<FaultKind>& FaultKinds();

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_FAULTS_KINDS_H_
