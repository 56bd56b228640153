// SPDX-License-Identifier: MIT
// Data parallelism: every rank computes the gradients of its share of the
// batch, and all ranks continue with the mean.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_GRADIENT_SYNC_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_GRADIENT_SYNC_H_

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "model/distributed/comm/process_group.h"
#include "model/spec/enum_names.h"

namespace trainbench {

// The Make...Sync() functions below document the algorithm and cost of each.
enum class SyncStrategy {
  kPerParameter,
  kFlat,
  kOverlapPerParameter,
  kOverlapBucketed,
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
  // Most bytes of one bucket, for the strategies that have buckets.
  int64_t bucket_bytes = kDefaultBucketBytes;
};

// What one rank did in one step.
struct SyncTraffic {
  int64_t calls = 0;         // all-reduces started
  int64_t bytes = 0;         // all-reduced
  int64_t copied_bytes = 0;  // into buffers and back
};

// Averages the gradients over the ranks. In each step every rank calls
// BeforeForward, forward, BeforeBackward, backward, Finish; the caller then
// releases the gradients (sets them to none). Gradients are divided by the
// number of ranks before they are summed, so Gloo and NCCL behave alike and a
// sum in fp16 cannot overflow. If a collective fails, any call, and backward()
// itself, throws c10::Error; the ranks then no longer agree and the object is
// of no further use. (Under kReducer backward() throws Gloo's own
// std::exception: call it in Communicate().)
class GradientSync {
 public:
  virtual ~GradientSync() = default;
  GradientSync(const GradientSync&) = delete;
  GradientSync& operator=(const GradientSync&) = delete;

  virtual void BeforeForward() {}
  virtual void BeforeBackward() {}
  // On return every gradient is the mean over the ranks. Its time is exposed
  // communication. Throws c10::Error that names a parameter without a gradient.
  virtual void Finish() = 0;
  // Traffic of the last finished step.
  virtual SyncTraffic Traffic() const = 0;

 protected:
  GradientSync() = default;
};

// `parameters`: contiguous leaves that require a gradient, each once, in the
// same order on all ranks; with one dtype and device for kFlat. They and
// `group` must outlive the result. A parameter can have hooks of one strategy
// at a time. Throws c10::Error for any other parameters.
std::unique_ptr<GradientSync> MakeGradientSync(
    const SyncOptions& options, std::vector<at::Tensor> parameters,
    ProcessGroup& group);

// The parameters that require a gradient, in the module's order. A tied
// parameter, which parameters() lists once per owner, appears once.
std::vector<at::Tensor> TrainableParameters(const torch::nn::Module& module);

// Copies rank 0's parameters, frozen ones included, and buffers to all ranks.
void BroadcastModel(const torch::nn::Module& module, ProcessGroup& group);

// The strategies, one file each; callers choose one with MakeGradientSync().
//
// Costs are per rank and step, for gradients of S bytes in P tensors over N
// ranks. An all-reduce of s bytes sends and receives 2 (N-1)/N s each (ring:
// reduce-scatter, then all-gather; Patarasuk & Yuan 2009), so all strategies
// move the same bytes, 2 (N-1)/N S. They differ in the number of calls, in
// copied bytes, and in the time that the backward pass hides. Each call costs a
// latency that grows with N.

// After backward, for each gradient: divide, all-reduce in place, wait.
//   calls P, copies none, hides nothing: P latencies one after another.
std::unique_ptr<GradientSync> MakePerParameterSync(
    std::vector<at::Tensor> parameters, ProcessGroup& group);

// After backward: divides all gradients into one buffer, all-reduces it in one
// call, and copies the results back.
//   calls 1, copies 2 S, hides nothing; S more bytes of memory at all times.
std::unique_ptr<GradientSync> MakeFlatSync(std::vector<at::Tensor> parameters,
                                           ProcessGroup& group);

// Divides and all-reduces each gradient in place as soon as it is complete,
// while the backward pass goes on. All ranks start in reverse order of the
// parameters, whatever the order of completion: ranks that start the same
// collectives in different orders would sum different gradients, or wait for
// ever.
//   calls P, copies none, hides all but the time of the last gradients.
std::unique_ptr<GradientSync> MakeOverlapPerParameterSync(
    std::vector<at::Tensor> parameters, ProcessGroup& group);

// Divides each complete gradient into its place in a bucket
// (model/distributed/ddp/bucket_plan.h), which becomes the gradient. A full
// bucket is all-reduced while the backward pass goes on (Li et al. 2020,
// PyTorch Distributed). All ranks start the buckets in the same order. A
// gradient alone in its bucket is sent in place.
//   calls about S / bucket_bytes, copies at most S (in only), hides all but the
//   time of the last bucket; the buckets take as much memory, at all times, as
//   is copied, but the gradients are views of them.
std::unique_ptr<GradientSync> MakeOverlapBucketedSync(
    const SyncOptions& options, std::vector<at::Tensor> parameters,
    ProcessGroup& group);

// c10d's Reducer, which PyTorch's DistributedDataParallel uses: as above, with
// a first bucket of 1 MiB, and buckets rebuilt after the first step in the
// order of completion. It waits inside backward(), so exposed communication
// belongs to the backward pass and Finish() only checks.
std::unique_ptr<GradientSync> MakeReducerSync(
    const SyncOptions& options, std::vector<at::Tensor> parameters,
    ProcessGroup& group);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_GRADIENT_SYNC_H_
