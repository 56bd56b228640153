// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_GROUP_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_GROUP_H_

#include <ATen/core/Tensor.h>

#include "model/distributed/comm/process_group.h"

namespace trainbench {

// The all-reduces of the ranks that split a model. One rank sends nothing.
class TensorGroup {
 public:
  // `group` must outlive the object.
  explicit TensorGroup(ProcessGroup& group) : group_(group) {}

  ProcessGroup& group() const { return group_; }
  int rank() const { return group_.rank(); }
  int size() const { return group_.size(); }

  // Replace contiguous `tensor` by its sum or maximum over the ranks and return
  // when the result is ready. Throw as Collective::Wait() does.
  void Sum(const at::Tensor& tensor) {
    if (sends_ && size() > 1) group_.AllReduce(tensor);
  }
  void Max(const at::Tensor& tensor) {
    if (sends_ && size() > 1) group_.AllReduceMax(tensor);
  }

  // Whether anything is sent. A step that sends nothing does the same
  // computation, but its results are wrong.
  void set_sends(bool sends) { sends_ = sends; }

 private:
  ProcessGroup& group_;
  bool sends_ = true;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_GROUP_H_
