// SPDX-License-Identifier: MIT
// A group of the ranks of a job, and its collectives.

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

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "model/distributed/comm/traffic.h"
#include "model/spec/parallel/collective.h"

namespace c10d {
class Backend;
class ProcessGroup;
class Store;
}  // namespace c10d

namespace trainbench {

class ProcessGroup;

struct GroupOptions {
  CommBackend backend = CommBackend::kGloo;
  int rank = 0;
  int size = 1;
  // Timeout of the rendezvous and of every collective: a rank that waits longer
  // for another rank gets an error.
  std::chrono::milliseconds timeout = std::chrono::minutes(1);
  // Gloo uses this address, or the network interfaces, "eth0,eth1", if any.
  std::string address = "127.0.0.1";
  std::string network_interfaces = {};
};

// Makes the backend of a group, which exchanges its keys through `store`.
using BackendMaker = std::function<c10::intrusive_ptr<c10d::Backend>(
    const c10::intrusive_ptr<c10d::Store>& store, const GroupOptions& options)>;

// Runs a call that communicates. c10d's own exceptions are c10::DistErrors. An
// exception that is not a c10::Error comes from Gloo and is converted to a
// c10::DistNetworkError, except std::bad_alloc.
void Communicate(const std::function<void()>& call);

// A collective in flight, null if it has finished. Keeps its tensors alive. Its
// only call returns when the result is ready: on the CPU for the caller, on a
// GPU for later work on the current stream. It throws c10::DistError, with the
// reason from c10d or Gloo, if a rank failed or was too late; over NCCL only a
// later call or Close() may find that.
using Collective = absl::AnyInvocable<void()>;

inline void Await(Collective collective) {
  if (collective != nullptr) collective();
}

// One collective call of a rank.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  int64_t bytes = 0;  // bytes of the whole tensor
  // For a gather or scatter: whether it was started asynchronously. Gloo's
  // groups then use a different algorithm.
  bool async_op = false;
  int root = 0;  // for a broadcast
};

// Records the collectives that the group's rank calls during the object's
// lifetime; maxima count as sums. The group must outlive it and has at most one
// recorder at a time. Groups created by Split() are not recorded. For NCCL,
// cpu_group() is not recorded either; for Gloo it is the group itself.
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

// One rank's member of a process group, over a c10d backend. All ranks must
// make the same calls in the same order. Tensors must be contiguous, with the
// same shape and dtype on all ranks. Not thread-safe.
class ProcessGroup {
 public:
  // Joins the other ranks through `store`. No other group may use its keys.
  // InvalidArgument for a rank outside [0, size); Unavailable, with c10d's
  // reason, if the ranks do not join in time.
  static absl::StatusOr<std::unique_ptr<ProcessGroup>> Join(
      const c10::intrusive_ptr<c10d::Store>& store,
      const GroupOptions& options);

  // Creates a rank's group over the backends that `make_backend` makes, one for
  // itself and for NCCL another one for cpu_group(). Does not wait for other
  // ranks.
  static std::unique_ptr<ProcessGroup> Over(const BackendMaker& make_backend,
                                            const GroupOptions& options);

  // Creates a rank's group without other ranks: it allocates the memory that
  // options.backend allocates, sends nothing, does not wait and leaves all
  // values unchanged.
  static std::unique_ptr<ProcessGroup> Fake(const GroupOptions& options);

  virtual ~ProcessGroup() = default;

  // Called by every collective, and by users of c10d that bypass this class.
  void Record(const CollectiveCall& call) {
    if (recorder_ != nullptr) recorder_->Add(call);
  }

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual CommBackend backend() const = 0;
  // Chunk `rank()` of [size * n, ...] values, a view.
  at::Tensor ChunkOf(const at::Tensor& all) const;

  // The same ranks over the CPU: this group itself for Gloo, or else a separate
  // Gloo group that was created with it. Its collectives do not involve the
  // GPU.
  virtual ProcessGroup& cpu_group() = 0;

  // Starts replacing `tensor` by its sum over all ranks.
  virtual Collective StartAllReduce(const at::Tensor& tensor) = 0;
  // input [size * n] -> output [n]: chunk `rank()` of the sum over all ranks.
  // Leaves `input` undefined; `output` may be chunk `rank()` of it. Neither may
  // be used until Await() returns. Over Gloo, where Await() adds, n more values
  // per other rank stay allocated until then.
  virtual Collective StartReduceScatter(const at::Tensor& output,
                                        const at::Tensor& input) = 0;
  // input [n] -> output [size * n], in rank order. `input` may be chunk
  // `rank()` of `output`. Neither may be used until Await() returns.
  virtual Collective StartAllGather(const at::Tensor& output,
                                    const at::Tensor& input) = 0;
  // The calls below block until they are complete, and throw as Await() does.
  // AllReduce sums.
  void AllReduce(const at::Tensor& tensor) { Await(StartAllReduce(tensor)); }
  virtual void AllReduceMax(const at::Tensor& tensor) = 0;
  // Copies the tensor from rank `root` to all others.
  virtual void Broadcast(const at::Tensor& tensor, int root) = 0;
  // Blocking StartReduceScatter and StartAllGather. Over Gloo they use a ring,
  // which needs little memory.
  virtual void ReduceScatter(const at::Tensor& output,
                             const at::Tensor& input) = 0;
  virtual void AllGather(const at::Tensor& output, const at::Tensor& input) = 0;
  // AllGather with messages of its own over Gloo, for what ranks say about
  // their calls. After an error the ranks' calls may differ. A rank that no
  // other rank joins then gets an error after the timeout. With the usual
  // messages it could receive one of another size, which ends the process.
  virtual void AllGatherApart(const at::Tensor& output,
                              const at::Tensor& input) = 0;
  // Returns when all ranks have called it.
  virtual void Barrier() = 0;

  // Closes the parts, waits for NCCL's collectives and frees its communicator.
  // All ranks call it after their last collective. Throws c10::DistBackendError
  // on every rank if one of NCCL's has failed on any. The destructor of a group
  // that was not closed, because a rank failed, aborts its collectives.
  virtual void Close() = 0;

  // For c10d's Reducer.
  virtual const c10::intrusive_ptr<c10d::ProcessGroup>& c10d_group() const = 0;

  // Splits the group: returns this rank's part, the ranks with the same color
  // in this group's order. colors[r] is rank r's color; all ranks call it
  // together with the same colors, and get the same part again for the same
  // colors. The group owns the part, which uses its own keys in the store, the
  // same backend and timeout. InvalidArgument unless each rank has one color;
  // Unavailable as in Join().
  virtual absl::StatusOr<ProcessGroup*> Split(
      const std::vector<int>& colors) = 0;

 private:
  friend class CollectiveRecorder;
  CollectiveRecorder* recorder_ = nullptr;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_PROCESS_GROUP_H_
