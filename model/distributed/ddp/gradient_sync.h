// SPDX-License-Identifier: MIT
// Data parallelism: every rank computes the gradients of its share of the
// batch, and all ranks continue with the mean.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_GRADIENT_SYNC_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_GRADIENT_SYNC_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/distributed/comm/process_group.h"
#include "model/distributed/ddp/gradient_hooks.h"
#include "model/spec/enum_names.h"

namespace trainbench {

// How gradients are averaged. Costs are per rank and step, for gradients of S
// bytes in P tensors over N ranks. An all-reduce of s bytes sends and receives
// 2 (N-1)/N s each (ring: reduce-scatter, then all-gather; Patarasuk & Yuan
// 2009), so all strategies move the same bytes, 2 (N-1)/N S. They differ in the
// number of calls, in copied bytes, and in the communication that overlaps with
// the backward pass. Each call costs a latency that grows with N.
enum class SyncStrategy {
  // After backward, for each gradient: divides, all-reduces in place, waits.
  //   calls P, copies none, overlaps nothing: P consecutive latencies.
  kPerParameter,
  // After backward: divides all gradients into one buffer, all-reduces it in
  // one call, and copies the results back.
  //   calls 1, copies 2 S, overlaps nothing; S more bytes of memory throughout.
  kFlat,
  // Divides and all-reduces each gradient in place as soon as it is complete,
  // while the backward pass continues. All ranks start in reverse parameter
  // order, whatever the order of completion: ranks that start the same
  // collectives in different orders would sum different gradients or deadlock.
  //   calls P, copies none, overlaps all but the time of the last gradients.
  kOverlapPerParameter,
  // Divides each complete gradient into its place in a bucket
  // (PlanBuckets), which becomes the gradient. A full bucket is all-reduced
  // while the backward pass continues (Li et al. 2020, PyTorch Distributed).
  // All ranks start the buckets in the same order. A gradient that is alone in
  // its bucket is sent in place.
  //   calls about S / bucket_bytes, copies at most S (in only), overlaps all
  //   but the time of the last bucket. The buckets permanently take as much
  //   memory as is copied, but the gradients are views of them.
  kOverlapBucketed,
  // c10d's Reducer, which PyTorch's DistributedDataParallel uses: as above, but
  // the buckets are made after the first step, which has one, in the order of
  // completion. The first has 1 MiB if bucket_bytes is the default. It waits
  // inside backward(), so exposed communication belongs to the backward pass
  // and Finish() only checks.
  kReducer,
};

inline constexpr EnumNames<SyncStrategy, 5> SyncStrategyName{
    "per_parameter", "flat", "overlap_per_parameter", "overlap_bucketed",
    "reducer"};
inline constexpr auto kSyncStrategies = SyncStrategyName.values();

// PyTorch's default for DistributedDataParallel.
inline constexpr int64_t kDefaultBucketBytes = int64_t{25} << 20;

struct SyncOptions {
  SyncStrategy strategy = SyncStrategy::kOverlapBucketed;
  // Maximum bytes of a bucket, for the strategies with buckets; the Reducer's
  // is complete as soon as it has at least so many.
  int64_t bucket_bytes = kDefaultBucketBytes;
};

// Averages the gradients over the ranks. In each step every rank calls
// BeforeForward, forward, BeforeBackward, backward and Finish, with the same
// errors as a ParallelTrainer; the caller then releases the gradients (sets
// them to undefined). Gradients are divided by the number of ranks before they
// are summed, so Gloo and NCCL behave alike and a sum in fp16 cannot overflow.
class GradientSync {
 public:
  GradientSync(std::vector<at::Tensor> parameters, ProcessGroup& group);
  virtual ~GradientSync() = default;
  GradientSync(const GradientSync&) = delete;
  GradientSync& operator=(const GradientSync&) = delete;

  virtual void BeforeForward() {}
  virtual void BeforeBackward() {}
  // On return every gradient is the mean over the ranks. Its duration is
  // exposed communication. Throws c10::Error that names a parameter without a
  // gradient.
  void Finish();
  // If off, gradients are not averaged.
  void SetExchanges(bool on) { exchanges_ = on; }
  // Bytes copied into buffers and back in the last finished step.
  int64_t CopiedBytes() const { return last_copied_bytes_; }

 protected:
  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  ProcessGroup& group() const { return group_; }
  bool exchanges() const { return exchanges_; }
  // The weight of each rank in the mean: 1 / ranks.
  double share() const { return 1.0 / group_.size(); }

  // Sets `place` to gradient * share() and counts the copied bytes.
  void CopyShare(const at::Tensor& gradient, const at::Tensor& place);
  void CountCopied(const at::Tensor& tensor);

 private:
  // Whether the gradient of this parameter is complete.
  virtual bool IsComplete(std::size_t index) const;
  // Averages the gradients, which are all complete. Returns when it is done.
  virtual void Average() = 0;

  std::vector<at::Tensor> parameters_;
  ProcessGroup& group_;
  bool exchanges_ = true;
  int64_t copied_bytes_ = 0, last_copied_bytes_ = 0;
};

// Base of the strategies that handle each gradient during the backward pass,
// once per step. A second gradient before Finish() is an error, since the first
// may be in flight. To accumulate micro-batches, use another strategy.
class OverlapBase : public GradientSync {
 public:
  OverlapBase(std::vector<at::Tensor> parameters, ProcessGroup& group);

 protected:
  // Waits for everything that OnGradient() started.
  virtual void WaitAll() = 0;
  // Called when the gradient of a parameter is complete.
  virtual void OnGradient(std::size_t index) = 0;

 private:
  bool IsComplete(std::size_t index) const final { return heard_[index]; }
  void Average() final;

  std::vector<bool> heard_;
  GradientHooks hooks_;
};

// `parameters`: contiguous leaves that require a gradient, each once, in the
// same order on all ranks; for kFlat, with one dtype and device. They and
// `group` must outlive the result. A parameter can have the hooks of only one
// strategy at a time. Throws c10::Error for other parameters.
std::unique_ptr<GradientSync> MakeGradientSync(
    const SyncOptions& options, std::vector<at::Tensor> parameters,
    ProcessGroup& group);

// Returns the tensor indices of each bucket, in sending order. Tensors are
// taken in reverse order, because a backward pass completes the gradients of
// the last layers first. A bucket takes tensors of one dtype and device while
// they fit into `bucket_bytes`; a larger tensor gets its own bucket. Throws
// c10::Error unless bucket_bytes > 0.
std::vector<std::vector<std::size_t>> PlanBuckets(
    const std::vector<at::Tensor>& tensors, int64_t bucket_bytes);

std::unique_ptr<GradientSync> MakeOverlapBucketedSync(
    int64_t bucket_bytes, std::vector<at::Tensor> parameters,
    ProcessGroup& group);

std::unique_ptr<GradientSync> MakeReducerSync(
    const SyncOptions& options, std::vector<at::Tensor> parameters,
    ProcessGroup& group);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_GRADIENT_SYNC_H_
