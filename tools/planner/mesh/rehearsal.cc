// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/rehearsal.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "fixtures/device/cuda_memory.h"
#include "fixtures/device/null_gpu.h"
#include "fixtures/device/torch_device.h"
#include "model/spec/phase.h"
#include "tools/planner/mesh/mesh_rank.h"

namespace trainbench {
namespace {

// Records what the null GPU did in each phase of the most recent step.
class PhaseRecorder final : public PhaseObserver {
 public:
  explicit PhaseRecorder(MeshRehearsal& to) : to_(to) {}

  void Begin() {
    to_.kernels.clear();
    to_.counters.clear();
    to_.ended_in.clear();
    ResetNullGpuCounts();
  }
  void Enter(Phase phase) override {
    End();
    to_.ended_in = std::string(PhaseName(phase));
  }
  // Ends the phase that was entered last; before the first one nothing runs.
  void End() {
    const auto counts = nlohmann::json::parse(NullGpuCounts()).at("counters");
    if (!to_.ended_in.empty()) {
      // A phase may be entered again.
      if (to_.kernels.empty() || to_.kernels.back().first != to_.ended_in) {
        to_.kernels.emplace_back(to_.ended_in, 0);
      }
      to_.kernels.back().second += counts.at("launches").get<int64_t>();
    }
    for (const auto& [name, count] : counts.items()) {
      to_.counters[name] += count.get<int64_t>();
    }
    ResetNullGpuCounts();
  }

 private:
  MeshRehearsal& to_;
};

void TrainTwoSteps(const MeshJob& job, const Device& device,
                   MeshRehearsal& found) {
  found.ended_in = "build";
  MeshRank rank(job, TorchDevice(device));
  device.Synchronize();
  found.shard_elements = rank.ShardElements();
  found.build_peak_bytes =
      GetCudaMemory(device.index).allocated_peak - found.library_bytes;
  // The steps' reserved memory must not include blocks of the build.
  device.ReleaseUnusedMemory();
  ResetCudaPeak(device.index);
  PhaseRecorder recorder(found);
  // The first step allocates what the second one reuses.
  for (int step = 0; step < 2; ++step) {
    recorder.Begin();
    found.collectives = rank.Run(recorder);
    recorder.End();
    device.Synchronize();
    AwaitAutogradThread(device.index);
  }
  const CudaMemory memory = GetCudaMemory(device.index);
  found.resident_bytes = memory.allocated - found.library_bytes;
  found.step_peak_bytes = memory.allocated_peak - found.library_bytes;
  found.reserved_bytes = memory.reserved_peak;
}

}  // namespace

MeshRehearsal RehearseRank(const MeshJob& job, const Device& device) {
  MeshRehearsal found;
  device.TakeLibraryMemory();
  device.ReleaseUnusedMemory();
  ResetCudaPeak(device.index);
  found.library_bytes = CublasWorkspaceBytes(device.index);
  found.out_of_memory =
      CatchOutOfMemory([&] { TrainTwoSteps(job, device, found); });
  return found;
}

}  // namespace trainbench
