// SPDX-License-Identifier: MIT
// The operations of a model that are bound by memory, one at a time, in each
// implementation.

#ifndef TRAINBENCH_BENCHMARKS_FUSED_OPS_FUSED_OPS_H_
#define TRAINBENCH_BENCHMARKS_FUSED_OPS_FUSED_OPS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "model/nn/rope.h"
#include "model/spec/config.h"
#include "model/spec/device_kind.h"
#include "model/spec/fused_op.h"

namespace trainbench {

// Bytes that an operation of this shape reads and writes at the least, whoever
// implements it, in `width` bytes per element. Symbols as in
// accounting/memory.h; S counts half where it is masked.
//
//                    forward       backward
//   add_rms_norm     4 e D         4 e D      residual, update; both results
//   rope             4 e D         4 e D      queries and keys
//   swiglu           3 e F         5 e F
//   causal_softmax   e (S/2 + S)   e (S + S)  reads what is not masked
//   cross_entropy    both: 2 e L   reads the logits, writes their gradient
double FusedOpBytes(FusedOp op, Pass pass, const ModelConfig& model,
                    int64_t batch, int64_t seq, int width);

// Why the device has no such implementation for models of this width; empty if
// it has.
std::string FusedOpUnavailable(FusedOp op, Implementation implementation,
                               DeviceKind device, int64_t d_model);

// One operation on random inputs of a model's shape.
class FusedOpCall {
 public:
  FusedOpCall(FusedOp op, Implementation implementation,
              const ModelConfig& model, int64_t batch, int64_t seq,
              const at::TensorOptions& options);

  // Gives the inputs, which an operation may overwrite, their values again.
  void Restore();

  // The results, with their graph.
  std::vector<at::Tensor> Forward();

  // The inputs' gradients for random gradients of the results. Frees the graph.
  std::vector<at::Tensor> Backward(const std::vector<at::Tensor>& results);

  // Compares results and gradients with the textbook's in float64: output_error
  // and gradient_error (spec/check_log.h).
  absl::Status Verify();

 private:
  std::vector<at::Tensor> Compute(Implementation implementation,
                                  const std::vector<at::Tensor>& inputs);

  FusedOp op_;
  Implementation implementation_;
  int64_t heads_;
  Rope rope_;
  std::vector<at::Tensor> values_;
  // Leaves that require gradients, with those values.
  std::vector<at::Tensor> inputs_;
  at::Tensor targets_;                 // of cross entropy
  std::vector<at::Tensor> gradients_;  // of the results
};

}  // namespace trainbench

#endif  // TRAINBENCH_BENCHMARKS_FUSED_OPS_FUSED_OPS_H_
