// SPDX-License-Identifier: MIT
// The memory-bound operations of a model, one at a time, in each
// implementation.

#ifndef TRAINBENCH_BENCHMARKS_FUSED_OPS_FUSED_OPS_H_
#define TRAINBENCH_BENCHMARKS_FUSED_OPS_FUSED_OPS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "model/nn/rope.h"
#include "model/spec/config.h"
#include "model/spec/device_kind.h"
#include "model/spec/enum_names.h"
#include "model/spec/phase.h"

namespace trainbench {

enum class FusedOp {
  kAddRmsNorm,     // residual addition, then RMSNorm
  kRope,           // rotation of queries and keys
  kSwiglu,         // silu(gate) * value
  kCausalSoftmax,  // scale, causal mask and softmax
  kCrossEntropy,   // the mean loss from logits
};

inline constexpr EnumNames<FusedOp, 5> FusedOpName{
    "add_rms_norm", "rope", "swiglu", "causal_softmax", "cross_entropy"};

// Returns the least bytes that an operation of this shape reads and writes in
// any implementation, in one phase or in both, with `width` bytes per element
// (e). The residual stream has D elements, a hidden layer F, the scores S and
// the logits L. S counts half if it is masked.
//
//                    forward       backward
//   add_rms_norm     4 e D         4 e D      residual, update; both results
//   rope             4 e D         4 e D      queries and keys
//   swiglu           3 e F         5 e F
//   causal_softmax   e (S/2 + S)   e (S + S)  reads only unmasked scores
//   cross_entropy    both: 2 e L   reads the logits, writes their gradient
double FusedOpBytes(FusedOp op, std::optional<Phase> phase,
                    const ModelConfig& model, int64_t batch, int64_t seq,
                    int width);

// Returns why the device lacks this implementation for such a model; empty if
// it has one.
std::string FusedOpUnavailable(FusedOp op, Implementation implementation,
                               DeviceKind device, ModelConfig model);

// One operation on random inputs of a model's shape.
class FusedOpCall {
 public:
  FusedOpCall(FusedOp op, Implementation implementation,
              const ModelConfig& model, int64_t batch, int64_t seq,
              const at::TensorOptions& options);

  // Restores the values of the inputs, which an operation may overwrite.
  void Restore();

  // Returns the results, with their autograd graph.
  std::vector<at::Tensor> Forward();

  // Returns the inputs' gradients for random result gradients. Frees the graph.
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
  // Leaves that require gradients, initialized with `values_`.
  std::vector<at::Tensor> inputs_;
  at::Tensor targets_;                 // for cross entropy
  std::vector<at::Tensor> gradients_;  // of the results
};

}  // namespace trainbench

#endif  // TRAINBENCH_BENCHMARKS_FUSED_OPS_FUSED_OPS_H_
