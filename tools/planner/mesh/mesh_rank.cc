// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/mesh_rank.h"

#include <torch/types.h>

#include <string>

#include "fixtures/device/cuda_memory.h"
#include "fixtures/device/null_gpu.h"
#include "fixtures/device/torch_device.h"
#include "fixtures/memory/out_of_memory.h"
#include "model/distributed/trainer/parallel_trainer.h"
#include "model/nn/dtype.h"
#include "model/spec/phase.h"
#include "model/training/adamw.h"

namespace trainbench {
namespace {

using Json = nlohmann::ordered_json;

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

// Adds what the null GPU did in the step.
void AddCounts(const NullGpuPhases& phases, Json& found) {
  std::map<std::string, int64_t> total;
  for (const auto& [phase, text] : phases.counts()) {
    const auto counters = Json::parse(text).at("counters");
    for (const auto& [name, count] : counters.items()) {
      total[name] += count.get<int64_t>();
    }
    if (phase == "call") continue;  // nothing runs before the first phase
    // A phase may be entered again.
    Json& launches = found["kernels"].emplace(phase, 0).first.value();
    launches = launches.get<int64_t>() + counters.at("launches").get<int64_t>();
  }
  for (const char* name : {"launches", "copies_h2d", "copies_d2h", "copies_d2d",
                           "copy_bytes_d2d", "fills", "fill_bytes", "waits"}) {
    found["counters"][name] = total.at(name);
  }
}

Json TrainTwoSteps(const MeshJob& job, const Device& device,
                   NullGpuPhases& phases) {
  const int64_t library_bytes = CublasWorkspaceBytes(device.index);
  MeshRank rank(job, TorchDevice(device));
  device.Synchronize();
  const int64_t build_peak = GetCudaMemory(device.index).allocated_peak;
  // The steps' reserved memory must not include blocks of the build.
  device.ReleaseUnusedMemory();
  ResetCudaPeak(device.index);
  MeshTraffic collectives;
  // The first step allocates what the second one reuses.
  for (int step = 0; step < 2; ++step) {
    phases.Begin();
    collectives = rank.Run(phases);
    phases.End();
    device.Synchronize();
    AwaitAutogradThread(device.index);
  }
  const CudaMemory memory = GetCudaMemory(device.index);
  Json found = {{"peak_bytes", memory.allocated_peak - library_bytes},
                {"build_peak_bytes", build_peak - library_bytes},
                {"resident_bytes", memory.allocated - library_bytes},
                {"library_bytes", library_bytes},
                {"reserved_bytes", memory.reserved_peak},
                {"shard_elements", rank.ShardElements()}};
  AddCounts(phases, found);
  found["collectives"] = CollectivesJson(collectives, job.mesh);
  return found;
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

Json RehearseRank(const MeshJob& job, const Device& device) {
  device.TakeLibraryMemory();
  device.ReleaseUnusedMemory();
  ResetCudaPeak(device.index);
  NullGpuPhases phases;
  Json found;
  Json full =
      CatchOutOfMemory([&] { found = TrainTwoSteps(job, device, phases); });
  if (full.is_null()) return found;
  full["phase"] = phases.phase();
  return {{"out_of_memory", full}};
}

}  // namespace trainbench
