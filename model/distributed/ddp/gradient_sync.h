// SPDX-License-Identifier: MIT
// Data parallelism: every rank computes the gradients of its part of the batch,
// and all of them continue with the mean.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_GRADIENT_SYNC_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_GRADIENT_SYNC_H_

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/distributed/comm/process_group.h"

namespace trainbench {

// model/distributed/ddp/gradient_sync.h tells the algorithm and cost of each.
enum class SyncStrategy {
  kPerParameter,
  kFlat,
  kOverlapPerParameter,
  kOverlapBucketed,
  kReducer,
};

inline constexpr std::array<SyncStrategy, 5> kSyncStrategies = {
    SyncStrategy::kPerParameter, SyncStrategy::kFlat,
    SyncStrategy::kOverlapPerParameter, SyncStrategy::kOverlapBucketed,
    SyncStrategy::kReducer};

// "per_parameter", "flat", "overlap_per_parameter", "overlap_bucketed",
// "reducer".
absl::string_view SyncStrategyName(SyncStrategy strategy);

// PyTorch's default for DistributedDataParallel.
inline constexpr int64_t kDefaultBucketBytes = int64_t{25} << 20;

struct SyncOptions {
  SyncStrategy strategy = SyncStrategy::kOverlapBucketed;
  // Most bytes of one bucket, for the strategies that have buckets.
  int64_t bucket_bytes = kDefaultBucketBytes;
};

// What one rank did in one step.
struct SyncTraffic {
  int64_t calls = 0;         // all-reduces started
  int64_t bytes = 0;         // given to them
  int64_t copied_bytes = 0;  // copied into buffers and out of them
};

// One rank's end of the synchronisation. A step calls, on every rank:
// BeforeForward, forward, BeforeBackward, backward, Finish; its caller then
// releases the gradients (sets them to none) before the next one. Gradients are
// divided by the number of ranks before they are summed, so Gloo and NCCL
// behave alike and a sum of halves cannot overflow.
// Any call, and backward() itself, throws c10::Error if a collective fails; the
// ranks then no longer agree and the object is of no further use. (What
// kReducer throws out of backward() is Gloo's own kind of std::exception.)
class GradientSync {
 public:
  virtual ~GradientSync() = default;
  GradientSync(const GradientSync&) = delete;
  GradientSync& operator=(const GradientSync&) = delete;

  virtual void BeforeForward() {}
  virtual void BeforeBackward() {}
  // When it returns every gradient is the mean over the ranks; its time is
  // exposed communication. Throws c10::Error that names a parameter without a
  // gradient.
  virtual void Finish() = 0;
  // Of the last step that was finished.
  virtual SyncTraffic Traffic() const = 0;

 protected:
  GradientSync() = default;
};

// `parameters`: contiguous leaves that require a gradient, each once, in the
// same order on all ranks; of one dtype and device for kFlat. They and `group`
// must outlive the result. A parameter can have hooks of one strategy at a
// time. Throws c10::Error for parameters that are not so.
std::unique_ptr<GradientSync> MakeGradientSync(
    const SyncOptions& options, std::vector<at::Tensor> parameters,
    ProcessGroup& group);

// Those that require a gradient, in the module's order. A tied one, which
// parameters() lists once per owner, is there once.
std::vector<at::Tensor> TrainableParameters(const torch::nn::Module& module);

// Makes all ranks' parameters, frozen ones too, and buffers equal to those of
// rank 0.
void BroadcastModel(const torch::nn::Module& module, ProcessGroup& group);

// The strategies, one file each; callers choose one with MakeGradientSync().
//
// Costs are per rank and step, for gradients of S bytes in P tensors over N
// ranks. An all-reduce of s bytes sends and receives 2 (N-1)/N s each (ring:
// reduce-scatter, then all-gather; Patarasuk & Yuan 2009), so all strategies
// move the same bytes, 2 (N-1)/N S. They differ in the number of calls, in the
// bytes they copy, and in what the backward pass hides. Each call costs a
// latency that grows with N.

// After backward, gradient by gradient: divide, all-reduce in place, wait.
//   calls P, copies none, hidden nothing: P latencies one after another.
std::unique_ptr<GradientSync> MakePerParameterSync(
    std::vector<at::Tensor> parameters, ProcessGroup& group);

// After backward, all gradients divided into one buffer, one all-reduce, and
// copied back out.
//   calls 1, copies 2 S, hidden nothing; S more bytes of memory at all times.
std::unique_ptr<GradientSync> MakeFlatSync(std::vector<at::Tensor> parameters,
                                           ProcessGroup& group);

// As soon as a gradient is complete, divided and all-reduced in place while the
// backward pass goes on. Started in reverse order of the parameters on all
// ranks, whichever is complete first: ranks that started the same collectives
// in different orders would sum different gradients, or wait for ever.
//   calls P, copies none, hidden all but what the last gradients need.
std::unique_ptr<GradientSync> MakeOverlapPerParameterSync(
    std::vector<at::Tensor> parameters, ProcessGroup& group);

// Gradients are gathered in buckets (model/distributed/ddp/bucket_plan.h); one
// that is complete is divided into its place in its bucket, which becomes the
// gradient, and a full bucket is all-reduced while the backward pass goes on
// (Li et al. 2020, PyTorch Distributed). Buckets start in their order on all
// ranks. A gradient that is alone in its bucket is sent from where it is.
//   calls about S / bucket_bytes, copies S at most (in only), hidden all but
//   what the last bucket needs; as much memory for the buckets all the time as
//   is copied, but the gradients are views of them.
std::unique_ptr<GradientSync> MakeOverlapBucketedSync(
    const SyncOptions& options, std::vector<at::Tensor> parameters,
    ProcessGroup& group);

// c10d's own, which PyTorch's DistributedDataParallel uses: as above, with a
// first bucket of 1 MiB and buckets made anew after the first step, in the
// order in which gradients came. It waits inside backward(), so what is not
// hidden belongs to the backward pass and Finish() only checks.
std::unique_ptr<GradientSync> MakeReducerSync(
    const SyncOptions& options, std::vector<at::Tensor> parameters,
    ProcessGroup& group);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_GRADIENT_SYNC_H_
