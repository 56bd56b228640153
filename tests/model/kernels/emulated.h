// SPDX-License-Identifier: MIT
// Runs the kernels of launchers.h on a null GPU that holds values: the emulator
// executes each launch in the device's memory. So a launcher's geometry, shared
// memory and arguments are the same as on a GPU.

#ifndef TRAINBENCH_TESTS_MODEL_KERNELS_EMULATED_H_
#define TRAINBENCH_TESTS_MODEL_KERNELS_EMULATED_H_

#include <cstdint>
#include <string>
#include <vector>

namespace trainbench::kernels {

class EmulatedKernels {
 public:
  struct Launch {
    std::string kernel;  // "trainbench::kernels::RopeKernel<float, 4>"
    std::string wrong;   // an error of the emulator, or ""
    int64_t bank_conflicts = 0;
  };

  // Makes the null GPU run kernels from now on. Returns false if none is
  // preloaded: then a GPU runs them, and nothing is recorded.
  static bool Install();

  // Returns the launches since the last call.
  static std::vector<Launch> Take();
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_TESTS_MODEL_KERNELS_EMULATED_H_
