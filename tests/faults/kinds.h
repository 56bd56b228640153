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
  int64_t calls = 0;  // of Run, this one included
  std::vector<at::Tensor> kept;
};

// What is null behaves well.
struct FaultKind {
  absl::string_view name;
  void (*build)() = nullptr;
  absl::Status (*check)() = nullptr;
  void (*run)(FaultState& state) = nullptr;
  double flops = 0;  // claimed on top of the true ones
  bool fresh_process = false;
};

// In the order in which they run: a good one before and after the bad ones.
const std::vector<FaultKind>& FaultKinds();

}  // namespace trainbench

#endif  // TRAINBENCH_TESTS_FAULTS_KINDS_H_
