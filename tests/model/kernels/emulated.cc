// SPDX-License-Identifier: MIT

#include "tests/model/kernels/emulated.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <typeinfo>
#include <utility>

#include "model/kernels/cross_entropy.cuh"
#include "model/kernels/flash/attention.cuh"
#include "model/kernels/rms_norm.cuh"
#include "model/kernels/rope.cuh"
#include "model/kernels/softmax.cuh"
#include "model/kernels/swiglu.cuh"
#include "tests/emulator/global_memory.h"
#include "tests/emulator/launcher.h"
#include "tests/model/kernels/gpu/probes.cuh"
#include "tools/null_gpu/null_gpu.h"

namespace trainbench::kernels {
namespace {

struct State {
  std::mutex mutex;
  std::vector<EmulatedKernels::Launch> launches;
};

State& GetState() {
  static auto* const state = new State;
  return *state;
}

template <class Kernel>
std::string NameOf() {
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(typeid(Kernel).name(), nullptr, nullptr, nullptr),
      &std::free);
  return name.get();
}

template <class Kernel>
EmulatedKernels::Launch Emulate(const trainbench_null_gpu_launch& launch,
                                const Grid& grid) {
  constexpr int kFinest = 2;  // bytes of the smallest element
  constexpr uint64_t kSeed = 1;
  if (launch.grid[1] * launch.grid[2] * launch.block[1] * launch.block[2] > 1) {
    return {NameOf<Kernel>(), "the launch has more than one dimension"};
  }
  emulator::GlobalMemory memory;
  for (size_t i = 0; i < launch.ranges; ++i) {
    const trainbench_null_gpu_range& range = launch.memory[i];
    memory.Allow(range.base, static_cast<int64_t>(range.bytes), kFinest,
                 /*writable=*/true);
  }
  emulator::Launcher launcher(&memory, kSeed);
  std::string wrong = launcher.Launch<Kernel>(
      grid, *static_cast<const typename Kernel::Args*>(launch.argument));
  return {NameOf<Kernel>(), std::move(wrong), launcher.bank_conflicts()};
}

template <class Kernel>
void RunKernel(const trainbench_null_gpu_launch* launch) {
  State& state = GetState();
  const std::lock_guard lock(state.mutex);
  const Grid grid = {launch->grid[0], static_cast<int>(launch->block[0]),
                     static_cast<int>(launch->shared_bytes)};
  state.launches.push_back(Emulate<Kernel>(*launch, grid));
}

struct Entry {
  std::string part;  // substring of the kernel's name on a GPU
  size_t argument_bytes;
  trainbench_null_gpu_body body;
};

std::vector<Entry>& Entries() {
  static auto* const entries = new std::vector<Entry>;
  return *entries;
}

template <class Kernel>
bool List() {
  const std::string name = NameOf<Kernel>();
  Entries().push_back({"::Run<" + name + (name.back() == '>' ? " >(" : ">("),
                       sizeof(typename Kernel::Args), RunKernel<Kernel>});
  return true;
}

template <class Kernel>
const bool is_listed = List<Kernel>();

// A launcher that launches nothing: compiling a call for it registers the
// kernels that the call may launch.
class Lister {
 public:
  using Status = bool;
  static bool Invalid(const char*) { return false; }
  static bool Ok(bool status) { return status; }
  template <class Kernel>
  bool Launch(const Grid&, const typename Kernel::Args&) {
    return is_listed<Kernel>;
  }
};

template const bool is_listed<MmaProbe>;
template const bool is_listed<LoadMatrixProbe>;
template const bool is_listed<CopyProbe>;
template const bool is_listed<ShuffleProbe>;
template const bool is_listed<MathProbe>;
template const bool is_listed<ReduceProbe>;

}  // namespace

template bool RmsNormForward(Lister&, const RmsNormForwardArgs&);
template bool RmsNormBackward(Lister&, const RmsNormBackwardArgs&);
template bool RopeTurn(Lister&, const RopeArgs&);
template bool SwigluForward(Lister&, const SwigluForwardArgs&);
template bool SwigluBackward(Lister&, const SwigluBackwardArgs&);
template bool SoftmaxForward(Lister&, const SoftmaxForwardArgs&);
template bool SoftmaxBackward(Lister&, const SoftmaxBackwardArgs&);
template bool CrossEntropyForward(Lister&, const CrossEntropyForwardArgs&);
template bool CrossEntropyBackward(Lister&, const CrossEntropyBackwardArgs&);
template bool FlashForward(Lister&, const FlashForwardArgs&);
template bool FlashBackward(Lister&, const FlashBackwardArgs&);

bool EmulatedKernels::Install() {
  const auto emulate = reinterpret_cast<decltype(&trainbench_null_gpu_emulate)>(
      dlsym(RTLD_DEFAULT, "trainbench_null_gpu_emulate"));
  if (emulate == nullptr) return false;
  for (const auto& [part, argument_bytes, body] : Entries()) {
    emulate(part.c_str(), argument_bytes, body);
  }
  return true;
}

std::vector<EmulatedKernels::Launch> EmulatedKernels::Take() {
  const std::lock_guard lock(GetState().mutex);
  return std::exchange(GetState().launches, {});
}

}  // namespace trainbench::kernels
