// SPDX-License-Identifier: MIT
// The kernels of launchers.h where the device is a null GPU that holds values:
// the emulator runs each launch, in the device's memory. So the geometry, the
// shared memory and the arguments of a launcher are those that a GPU would get.

#ifndef TRAINBENCH_TESTS_MODEL_KERNELS_EMULATED_H_
#define TRAINBENCH_TESTS_MODEL_KERNELS_EMULATED_H_

#include <functional>
#include <string>
#include <vector>

#include "model/kernels/device.h"

namespace trainbench::kernels {

class EmulatedKernels {
 public:
  struct Launch {
    std::string kernel;  // "trainbench::kernels::RopeKernel<float, 4>"
    Grid grid;
    std::string wrong;  // what the emulator found, or ""
  };

  // Has the null GPU run kernels from now on. False if none is preloaded: then
  // a GPU runs them, and nothing is recorded.
  static bool Install();

  // The launches since the last call.
  static std::vector<Launch> Take();

  // Has `change` spoil what the following launches ask for; null ends that.
  static void Spoil(std::function<void(Grid& grid)> change);
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_TESTS_MODEL_KERNELS_EMULATED_H_
