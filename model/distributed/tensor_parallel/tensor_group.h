// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_GROUP_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_GROUP_H_

#include <ATen/core/Tensor.h>

#include "model/distributed/comm/process_group.h"

namespace trainbench {

// The all-reduces of the ranks that share a model. One rank exchanges nothing.
class TensorGroup {
 public:
  // `group` outlives the object.
  explicit TensorGroup(ProcessGroup& group) : group_(group) {}

  ProcessGroup& group() const { return group_; }
  int rank() const { return group_.rank(); }
  int size() const { return group_.size(); }

  // Replace `tensor`, contiguous, by its sum or its maximum over the ranks, and
  // return when it is there. Throw as Collective::Wait() does.
  void Sum(const at::Tensor& tensor);
  void Max(const at::Tensor& tensor);

  // Whether anything is sent. A step that sends nothing computes as long as one
  // that does, and its results are wrong.
  void set_sends(bool sends) { sends_ = sends; }

 private:
  ProcessGroup& group_;
  bool sends_ = true;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_GROUP_H_
