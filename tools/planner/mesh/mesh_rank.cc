// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/mesh_rank.h"

#include <torch/types.h>

#include <nlohmann/json.hpp>

#include "fixtures/device/cuda_memory.h"
#include "fixtures/device/null_gpu.h"
#include "fixtures/device/torch_device.h"
#include "model/distributed/trainer/parallel_trainer.h"
#include "model/nn/dtype.h"
#include "model/spec/phase.h"
#include "model/training/adamw.h"

namespace trainbench {
namespace {

// Makes the rank's process groups without the other ranks.
std::map<MeshAxis, std::unique_ptr<ProcessGroup>> GroupsOf(const MeshJob& job) {
  std::map<MeshAxis, std::unique_ptr<ProcessGroup>> groups;
  for (const MeshAxis axis : kMeshAxes) {
    const int size = static_cast<int>(job.mesh.Size(axis));
    groups[axis] = ProcessGroup::Fake({.backend = CommBackend::kNccl,
                                       .rank = job.last_rank ? size - 1 : 0,
                                       .size = size});
  }
  return groups;
}

// Fills in what the null GPU did in the step.
void AddCounts(const NullGpuPhases& phases, MeshRehearsal& found) {
  for (const auto& [phase, text] : phases.counts()) {
    const auto counters = nlohmann::json::parse(text).at("counters");
    for (const auto& [name, count] : counters.items()) {
      found.counters[name] += count.get<int64_t>();
    }
    if (phase == "call") continue;  // nothing runs before the first phase
    // A phase may be entered again.
    if (found.kernels.empty() || found.kernels.back().first != phase) {
      found.kernels.emplace_back(phase, 0);
    }
    found.kernels.back().second += counters.at("launches").get<int64_t>();
  }
}

void TrainTwoSteps(const MeshJob& job, const Device& device,
                   NullGpuPhases& phases, MeshRehearsal& found) {
  MeshRank rank(job, TorchDevice(device));
  device.Synchronize();
  found.shard_elements = rank.ShardElements();
  found.build_peak_bytes =
      GetCudaMemory(device.index).allocated_peak - found.library_bytes;
  // The steps' reserved memory must not include blocks of the build.
  device.ReleaseUnusedMemory();
  ResetCudaPeak(device.index);
  // The first step allocates what the second one reuses.
  for (int step = 0; step < 2; ++step) {
    phases.Begin();
    found.collectives = rank.Run(phases);
    phases.End();
    device.Synchronize();
    AwaitAutogradThread(device.index);
  }
  const CudaMemory memory = GetCudaMemory(device.index);
  found.resident_bytes = memory.allocated - found.library_bytes;
  found.step_peak_bytes = memory.allocated_peak - found.library_bytes;
  found.reserved_bytes = memory.reserved_peak;
  AddCounts(phases, found);
}

}  // namespace

MeshRank::MeshRank(const MeshJob& job, at::Device device)
    : job_(job),
      groups_(GroupsOf(job)),
      matmul_(job.precision),
      ranks_(job.model, *groups_[MeshAxis::kTensor]),
      model_(MakePart(ranks_, at::device(device).dtype(at::kFloat))),
      sharded_(model_, job.sharding, WeightType(job.precision), AdamWOptions(),
               *groups_[MeshAxis::kFsdp], groups_[MeshAxis::kData].get()),
      batch_(RandomBatch(job.model.vocab, job.batch, job.seq, device)) {}

MeshTraffic MeshRank::Run(PhaseObserver& phases) {
  std::map<MeshAxis, CollectiveRecorder> recorders;
  for (const auto& [axis, group] : groups_) {
    if (group->size() > 1) recorders.try_emplace(axis, *group);
  }
  RunParallelStep(model_, sharded_, batch_, job_.precision, phases);
  MeshTraffic traffic;
  for (const auto& [axis, recorder] : recorders) {
    traffic[axis] = recorder.traffic();
  }
  return traffic;
}

int64_t MeshRank::ShardElements() const {
  const int64_t units = job_.model.layers + 2;
  return (sharded_.StateBytes() - 4 * units) / 8;
}

MeshRehearsal RehearseRank(const MeshJob& job, const Device& device) {
  MeshRehearsal found;
  device.TakeLibraryMemory();
  device.ReleaseUnusedMemory();
  ResetCudaPeak(device.index);
  found.library_bytes = CublasWorkspaceBytes(device.index);
  NullGpuPhases phases;
  found.out_of_memory =
      CatchOutOfMemory([&] { TrainTwoSteps(job, device, phases, found); });
  found.ended_in = phases.phase();
  return found;
}

}  // namespace trainbench
