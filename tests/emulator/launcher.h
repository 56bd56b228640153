// SPDX-License-Identifier: MIT
// Launches kernels on the CPU.

#ifndef TRAINBENCH_TESTS_EMULATOR_LAUNCHER_H_
#define TRAINBENCH_TESTS_EMULATOR_LAUNCHER_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "model/kernels/device.h"
#include "tests/emulator/device.h"
#include "tests/emulator/global_memory.h"

namespace trainbench::emulator {

// The launcher that is passed to the functions of model/kernels/*.cuh. Kernels
// run on the device `D`, which may have a planted fault. Blocks run one after
// another; `seed` shuffles the blocks and the threads of each.
template <class D = Device>
class BasicLauncher {
 public:
  // An error message, or "".
  using Status = std::string;

  using Options = typename D::Options;

  BasicLauncher(GlobalMemory* memory, uint64_t seed, Options options = {})
      : memory_(*memory),
        random_(seed),
        block_(memory, seed),
        options_(options) {}

  static Status Invalid(const char* why) { return why; }
  static bool Ok(const Status& status) { return status.empty(); }

  template <class Kernel>
  Status Launch(const kernels::Grid& grid, const typename Kernel::Args& args) {
    if (grid.blocks < 1 || grid.blocks > kernels::kMaxBlocks) {
      return "the number of blocks is " + std::to_string(grid.blocks);
    }
    if (grid.threads % kWarp != 0 || grid.threads < kWarp ||
        grid.threads > Kernel::kMaxThreads) {
      return "the number of threads is " + std::to_string(grid.threads);
    }
    if (grid.shared_bytes > kMaxSharedBytes) {
      return "the bytes of shared memory are " +
             std::to_string(grid.shared_bytes);
    }
    std::vector<int64_t> order(grid.blocks);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    const D device(&block_, grid.blocks, options_);
    Status status;
    for (const int64_t index : order) {
      status = block_.Run(index, grid.threads, grid.shared_bytes,
                          [&] { Kernel::Run(device, args); });
      if (!status.empty()) break;
    }
    memory_.EndKernel();
    return status;
  }

  int64_t bank_conflicts() const { return block_.bank_conflicts(); }

 private:
  static constexpr int kMaxSharedBytes = 227 << 10;  // per block, sm_90

  GlobalMemory& memory_;
  std::mt19937_64 random_;
  Block block_;
  Options options_;
};

using Launcher = BasicLauncher<>;

}  // namespace trainbench::emulator

#endif  // TRAINBENCH_TESTS_EMULATOR_LAUNCHER_H_
