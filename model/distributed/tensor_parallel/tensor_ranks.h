// SPDX-License-Identifier: MIT
// The groups of ranks that split a model's matrices, and their exchanges
// (Shoeybi et al. 2019, Megatron-LM, section 3). Enter and Leave are f and g of
// the paper; each is the backward pass of the other:
//
//           forward      backward
//   Enter   identity     all-reduce
//   Leave   all-reduce   identity
//
// Between the two, each rank computes with its part of the matrices. Outside,
// all ranks have the same tensors and the same gradients.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_RANKS_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_RANKS_H_

#include <ATen/core/Tensor.h>

#include "model/distributed/comm/process_group.h"
#include "model/nn/layer_ranks.h"
#include "model/spec/config.h"
#include "model/spec/parallel/tensor_part.h"

namespace trainbench {

// The two groups of a rank in a mesh of data x tensor ranks. Tensor ranks are
// adjacent, since they exchange more: rank = data rank * tensor + tensor rank.
struct MeshGroups {
  ProcessGroup* tensor = nullptr;  // ranks that split one model
  ProcessGroup* data = nullptr;    // ranks with the same part
};

// All ranks of `group`, which owns the parts, call it together. Throws
// c10::Error unless `tensor` divides the number of ranks, or if the ranks do
// not join in time.
MeshGroups SplitMesh(ProcessGroup& group, int tensor);

// One rank sends nothing. The object must outlive the backward passes.
class TensorRanks final : public LayerRanks {
 public:
  // `group` must outlive the object. Throws c10::Error unless its ranks can
  // split `whole` (ValidateParts).
  TensorRanks(const ModelConfig& whole, ProcessGroup& group);

  ProcessGroup& group() const { return group_; }
  const ModelConfig& whole() const { return whole_; }
  ModelConfig part() const;

  // Whether anything is sent. A step that sends nothing does the same
  // computation, but its results are wrong.
  void set_sends(bool sends) { sends_ = sends; }

  // The gradient of x is summed in place, so nothing else may use that
  // gradient; this holds if matrix products computed it.
  at::Tensor Enter(const at::Tensor& x) override;
  // Overwrites `summand`, which must be contiguous: move in the result of an
  // operation that does not save it. Needs no backward function, as each
  // summand has the sum's gradient.
  at::Tensor Leave(at::Tensor summand) override;
  // One all-reduce sums the results; each rank contributes the rows that it
  // has.
  at::Tensor Embed(const at::Tensor& weight, const at::Tensor& tokens) override;
  // Computed in at least fp32, without an exchange of logits. Two all-reduces:
  // the largest logit of each position; and, together, its sum of exponentials
  // and its target's logit. Overwrites the logits, which must be contiguous,
  // with their exponentials, and in the only backward pass with the gradient.
  at::Tensor CrossEntropy(at::Tensor logits,
                          const at::Tensor& targets) override;

  // Replace contiguous `tensor` by its sum or maximum over the ranks and return
  // when the result is ready. Throw as Await() does.
  void Sum(const at::Tensor& tensor);
  void Max(const at::Tensor& tensor);

 private:
  bool sends() const { return sends_ && group_.size() > 1; }

  ModelConfig whole_;
  ProcessGroup& group_;
  IndexRange words_;  // this rank's words of the vocabulary
  bool sends_ = true;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_TENSOR_PARALLEL_TENSOR_RANKS_H_
