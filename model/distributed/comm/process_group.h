// SPDX-License-Identifier: MIT
// The process group of a data-parallel job, and its collectives.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_PROCESS_GROUP_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_PROCESS_GROUP_H_

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/distributed/comm/traffic.h"
#include "model/spec/comm_backend.h"
#include "model/spec/parallel/collective.h"

namespace c10d {
class ProcessGroup;
class Store;
}  // namespace c10d

namespace trainbench {

class ProcessGroup;

struct GroupOptions {
  CommBackend backend = CommBackend::kGloo;
  int rank = 0;
  int size = 1;
  // Of the rendezvous and of every collective: a rank that waits longer for
  // another rank gets an error.
  std::chrono::milliseconds timeout = std::chrono::minutes(1);
  // The address or network interface of Gloo's traffic.
  std::string address = "127.0.0.1";
  std::string network_interface = {};  // overrides the address
};

// Makes a call that communicates. An exception that is no c10::Error is Gloo's
// and becomes a c10::DistNetworkError; c10d's own are c10::DistErrors. Memory
// that ran out is no such error.
void Communicate(const std::function<void()>& call);

// A started collective. Keeps its tensors alive.
class Collective {
 public:
  virtual ~Collective() = default;
  // Returns when the result is ready: on the CPU for the caller, on a GPU for
  // later work on the current stream. Throws c10::DistError, with the reason of
  // c10d or Gloo, if a rank failed or came too late.
  virtual void Wait() = 0;
};

// A call of a rank.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  int64_t bytes = 0;  // of the whole tensor
  // Of a gather or a scatter: it was started, to be awaited later. Gloo's
  // groups then send in another way.
  bool async_op = false;
  int root = 0;  // of a broadcast
};

// Records the collectives that the group's rank calls while the object lives,
// maxima as sums. The group outlives it, and has one recorder at a time. Groups
// that it was split into are not recorded, nor is cpu_group() over NCCL; over
// Gloo that is the group itself.
class CollectiveRecorder {
 public:
  explicit CollectiveRecorder(ProcessGroup& group);
  ~CollectiveRecorder();
  CollectiveRecorder(const CollectiveRecorder&) = delete;
  CollectiveRecorder& operator=(const CollectiveRecorder&) = delete;

  void Add(const CollectiveCall& call) { calls_.push_back(call); }
  const std::vector<CollectiveCall>& calls() const { return calls_; }
  Traffic traffic() const;

 private:
  ProcessGroup& group_;
  std::vector<CollectiveCall> calls_;
};

// One rank's member of a group of processes, over a backend of c10d. All ranks
// must make the same calls in the same order. Tensors are contiguous, with the
// same shape and dtype on all ranks. Not thread-safe.
class ProcessGroup {
 public:
  // Meets the other ranks through `store`, whose keys no other group may use.
  // InvalidArgument for a rank outside [0, size); Unavailable, with c10d's
  // reason, if the ranks do not meet in time.
  static absl::StatusOr<std::unique_ptr<ProcessGroup>> Join(
      const c10::intrusive_ptr<c10d::Store>& store,
      const GroupOptions& options);

  // A rank's group without the other ranks: takes the memory that
  // options.backend takes, sends nothing, waits for nobody and leaves all
  // values as they are.
  static std::unique_ptr<ProcessGroup> Fake(const GroupOptions& options);

  virtual ~ProcessGroup() = default;

  // Every collective calls it. So does who lets c10d make calls of its own.
  void Record(const CollectiveCall& call) {
    if (recorder_ != nullptr) recorder_->Add(call);
  }

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual CommBackend backend() const = 0;
  // Chunk `rank()` of [size * n, ...] values, a view.
  at::Tensor ChunkOf(const at::Tensor& all) const;

  // The same ranks over the CPU: this group over Gloo, or else a group of
  // Gloo's that joined with it. What they agree on through it leaves the GPU
  // alone.
  virtual ProcessGroup& cpu_group() = 0;

  // Starts replacing `tensor` by its sum over all ranks.
  virtual std::unique_ptr<Collective> StartAllReduce(
      const at::Tensor& tensor) = 0;
  // input [size * n] -> output [n]: chunk `rank()` of the sum over all ranks.
  // Leaves `input` undefined; `output` may be chunk `rank()` of it. Nobody may
  // use either until Wait() returns. Over Gloo, where Wait() adds, n more
  // values for each other rank are alive until then.
  virtual std::unique_ptr<Collective> StartReduceScatter(
      const at::Tensor& output, const at::Tensor& input) = 0;
  // input [n] -> output [size * n], in the order of the ranks. `input` may be
  // chunk `rank()` of `output`. Nobody may use either until Wait() returns.
  virtual std::unique_ptr<Collective> StartAllGather(
      const at::Tensor& output, const at::Tensor& input) = 0;
  // The calls below return when they are done and throw as Collective::Wait
  // does. AllReduce sums.
  void AllReduce(const at::Tensor& tensor) { StartAllReduce(tensor)->Wait(); }
  virtual void AllReduceMax(const at::Tensor& tensor) = 0;
  // Copies the tensor of rank `root` to all others.
  virtual void Broadcast(const at::Tensor& tensor, int root) = 0;
  // As StartReduceScatter and StartAllGather. Over Gloo on a ring, which takes
  // little memory.
  virtual void ReduceScatter(const at::Tensor& output,
                             const at::Tensor& input) = 0;
  virtual void AllGather(const at::Tensor& output, const at::Tensor& input) = 0;
  // Returns when all ranks have called it.
  virtual void Barrier() = 0;

  // Waits for NCCL's collectives and frees its communicator. All ranks call it
  // after their last collective. A group that nobody closed, because a rank
  // failed, breaks its collectives off when it is destroyed.
  virtual void Close() = 0;

  // For c10d's own Reducer.
  virtual const c10::intrusive_ptr<c10d::ProcessGroup>& c10d_group() const = 0;

  // This rank's part of the group: the ranks whose colour is this rank's, in
  // this group's order. colours[r] is rank r's; all ranks call it together with
  // the same colours. The part has keys of its own in the store, the same
  // backend and timeout, and may outlive this group. InvalidArgument unless
  // there is a colour for each rank; Unavailable as of Join().
  virtual absl::StatusOr<std::unique_ptr<ProcessGroup>> Split(
      const std::vector<int>& colours) = 0;

 private:
  friend class CollectiveRecorder;
  CollectiveRecorder* recorder_ = nullptr;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_PROCESS_GROUP_H_
