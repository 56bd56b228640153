// SPDX-License-Identifier: MIT
// A rank's group without the other ranks.

#ifndef TRAINBENCH_TOOLS_MESH_BOOKED_GROUP_H_
#define TRAINBENCH_TOOLS_MESH_BOOKED_GROUP_H_

#include <memory>
#include <vector>

#include "model/accounting/parallel/mesh_job.h"
#include "model/distributed/comm/process_group.h"
#include "model/spec/parallel/mesh_shape.h"

namespace trainbench {

// The collectives of a rank, counted.
class Bookings {
 public:
  void Add(MeshAxis axis, CollectiveKind kind, const at::Tensor& whole);

  // Since the last call, by axis and kind.
  std::vector<CollectiveCalls> Take();

 private:
  MeshTraffic traffic_;
};

// Sends nothing and waits for nobody: books each collective of a group of
// several ranks, keeps its tensors as long as NCCL's group does, and leaves
// their values as they are. Also a barrier is nothing.
class BookedGroup final : public ProcessGroup {
 public:
  // `bookings` outlives the group.
  BookedGroup(MeshAxis axis, int rank, int size, Bookings& bookings);

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  CommBackend backend() const override { return CommBackend::kNccl; }
  ProcessGroup& cpu_group() override { return *this; }

  std::unique_ptr<Collective> StartAllReduce(const at::Tensor& tensor) override;
  std::unique_ptr<Collective> StartReduceScatter(
      const at::Tensor& output, const at::Tensor& input) override;
  std::unique_ptr<Collective> StartAllGather(const at::Tensor& output,
                                             const at::Tensor& input) override;
  void AllReduceMax(const at::Tensor& tensor) override;
  void ReduceScatter(const at::Tensor& output,
                     const at::Tensor& input) override;
  void AllGather(const at::Tensor& output, const at::Tensor& input) override;
  void Barrier() override {}
  void Close() override {}

  // No step of a mesh makes these calls: c10::Error.
  void Broadcast(const at::Tensor& tensor, int root) override;
  const c10::intrusive_ptr<c10d::ProcessGroup>& c10d_group() const override;
  absl::StatusOr<std::unique_ptr<ProcessGroup>> Split(
      const std::vector<int>& colours) override;

 private:
  std::unique_ptr<Collective> Book(CollectiveKind kind, const at::Tensor& whole,
                                   std::vector<at::Tensor> tensors);

  const MeshAxis axis_;
  const int rank_, size_;
  Bookings& bookings_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_MESH_BOOKED_GROUP_H_
