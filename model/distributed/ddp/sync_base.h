// SPDX-License-Identifier: MIT
// What the strategies of gradient synchronisation have in common.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_DDP_SYNC_BASE_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_DDP_SYNC_BASE_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/distributed/comm/process_group.h"
#include "model/distributed/ddp/gradient_sync.h"

namespace trainbench {

// "parameter 3 [10, 50]".
std::string DescribeParameter(std::size_t index, const at::Tensor& parameter);

// Knows the parameters, finds those without a gradient, counts the traffic.
class SyncBase : public GradientSync {
 public:
  SyncBase(const SyncOptions& options, std::vector<at::Tensor> parameters,
           ProcessGroup& group);

  SyncTraffic Traffic() const final { return last_; }

 protected:
  const SyncOptions& options() const { return options_; }
  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  ProcessGroup& group() const { return group_; }
  // What each rank contributes to a mean: 1 / ranks.
  double share() const { return 1.0 / group_.size(); }

  // This rank's share of `gradient` into `place`, counted as a copy.
  void CopyShare(const at::Tensor& gradient, at::Tensor place);
  // Counted.
  std::unique_ptr<Collective> StartAllReduce(const at::Tensor& tensor);
  SyncTraffic& counting() { return counting_; }

  using Test = std::function<bool(std::size_t index)>;
  // The parameters for which `has_gradient` is false. Throws if there are any
  // and options().unused_parameters is not set.
  std::vector<std::size_t> Missing(const Test& has_gradient) const;
  // The parameters without a gradient, as above, which now have zeros in place
  // of one.
  std::vector<std::size_t> FillMissing() const;
  // If options().unused_parameters is set: of the parameters in `missing`,
  // those that have no gradient on any rank lose the zeros that stood for it.
  void DropUnused(const std::vector<std::size_t>& missing);
  // Ends the count of a step.
  void EndStep() { last_ = std::exchange(counting_, {}); }

 private:
  SyncOptions options_;
  std::vector<at::Tensor> parameters_;
  ProcessGroup& group_;
  SyncTraffic counting_, last_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_SYNC_BASE_H_
