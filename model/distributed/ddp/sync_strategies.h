// SPDX-License-Identifier: MIT
// The strategies of gradient synchronisation, one file each; callers choose one
// with MakeGradientSync().
//
// Costs are per rank and step, for gradients of S bytes in P tensors over N
// ranks. An all-reduce of s bytes sends and receives 2 (N-1)/N s each (ring:
// reduce-scatter, then all-gather; Patarasuk & Yuan 2009), so all strategies
// move the same bytes, 2 (N-1)/N S, and differ in the number of calls, in what
// they copy, and in what is hidden behind the backward pass. Each call costs a
// latency that grows with N.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_SYNC_STRATEGIES_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_SYNC_STRATEGIES_H_

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "model/distributed/ddp/gradient_sync.h"
#include "model/distributed/comm/process_group.h"

namespace trainbench {

// After backward, gradient by gradient: divide, all-reduce in place, wait.
//   calls P, copies none, hidden nothing: P latencies one after another.
std::unique_ptr<GradientSync> MakePerParameterSync(
    const SyncOptions& options, std::vector<at::Tensor> parameters,
    ProcessGroup& group);

// After backward, all gradients divided into one buffer, one all-reduce, and
// copied back out.
//   calls 1, copies 2 S, hidden nothing; S more bytes of memory at all times.
std::unique_ptr<GradientSync> MakeFlatSync(const SyncOptions& options,
                                           std::vector<at::Tensor> parameters,
                                           ProcessGroup& group);

// As soon as a gradient is complete, divided and all-reduced in place while the
// backward pass goes on. Started in reverse order of the parameters on all
// ranks, whichever is complete first: ranks that started the same collectives
// in different orders would sum different gradients, or wait for ever.
//   calls P, copies none, hidden all but what the last gradients need.
std::unique_ptr<GradientSync> MakeOverlapPerParameterSync(
    const SyncOptions& options, std::vector<at::Tensor> parameters,
    ProcessGroup& group);

// Gradients are gathered in buckets (model/distributed/ddp/bucket_plan.h); one that is
// complete is divided into its place in its bucket, which becomes the gradient,
// and a full bucket is all-reduced while the backward pass goes on (Li et al.
// 2020, PyTorch Distributed). Buckets start in their order on all ranks.
// A gradient that is alone in its bucket is sent from where it is.
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

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_SYNC_STRATEGIES_H_
