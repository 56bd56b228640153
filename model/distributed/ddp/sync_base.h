// SPDX-License-Identifier: MIT
// The base class of the gradient synchronisation strategies.

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

// Holds the parameters, requires a gradient of each, counts the traffic.
class SyncBase : public GradientSync {
 public:
  SyncBase(std::vector<at::Tensor> parameters, ProcessGroup& group);

  SyncTraffic Traffic() const final { return last_; }

 protected:
  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  ProcessGroup& group() const { return group_; }
  // The weight of each rank in the mean: 1 / ranks.
  double share() const { return 1.0 / group_.size(); }

  // Sets `place` to gradient * share(), counted as a copy.
  void CopyShare(const at::Tensor& gradient, at::Tensor place);
  // Starts and counts an all-reduce.
  std::unique_ptr<Collective> StartAllReduce(const at::Tensor& tensor);
  SyncTraffic& counting() { return counting_; }

  using Test = std::function<bool(std::size_t index)>;
  // Throws c10::Error that names the first parameter without a gradient.
  void RequireGradients(const Test& has_gradient) const;
  void RequireGradients() const;
  // Ends the count of a step.
  void EndStep() { last_ = std::exchange(counting_, {}); }

 private:
  std::vector<at::Tensor> parameters_;
  ProcessGroup& group_;
  SyncTraffic counting_, last_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_DDP_SYNC_BASE_H_
