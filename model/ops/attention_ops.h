// SPDX-License-Identifier: MIT
// The parts of attention, each alone, as NaiveAttention chains them.

#ifndef TRAINBENCH_MODEL_OPS_ATTENTION_OPS_H_
#define TRAINBENCH_MODEL_OPS_ATTENTION_OPS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "absl/status/status.h"
#include "model/spec/attention_op.h"

namespace trainbench {

struct AttentionOpShape {
  int64_t batch, heads, seq, d_head;
};

// qk: a = q, b = k, both [batch, heads, seq, d_head]. Softmax: a = scores,
// [batch, heads, seq, seq]; no b. pv: a = weights, like the scores; b = v.
struct AttentionOpInputs {
  at::Tensor a, b;
};

// Standard normal values from the default generator, for a softmax too: the
// scores of such q and k divided by sqrt(d_head) are like that.
AttentionOpInputs RandomOpInputs(AttentionOp part,
                                 const AttentionOpShape& shape,
                                 const at::TensorOptions& options);

// Without a graph. qk: scores, neither scaled nor masked. Softmax: weights, of
// the scores' shape and dtype. pv: [batch, heads, seq, d_head].
at::Tensor ComputeAttentionOp(AttentionOp part,
                              const AttentionOpInputs& inputs);

// Compares the last head of the last sequence with float64.
// FailedPrecondition gives the relative error and what is allowed.
absl::Status VerifyAttentionOp(AttentionOp part,
                               const AttentionOpInputs& inputs);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_OPS_ATTENTION_OPS_H_
