// SPDX-License-Identifier: MIT

#include "benchmarks/softmax_vs_matmul/attention_ops.h"

#include <torch/types.h>

#include "absl/strings/str_cat.h"
#include "model/nn/attention/naive.h"
#include "model/spec/check_log.h"
#include "model/verification/inputs.h"
#include "model/verification/relative_error.h"

namespace trainbench {

AttentionOpInputs RandomOpInputs(AttentionOp op, const AttentionOpShape& shape,
                                 const at::TensorOptions& options) {
  const auto random = [&](int64_t columns) {
    return at::randn({shape.batch, shape.heads, shape.seq, columns}, options);
  };
  switch (op) {
    case AttentionOp::kQk:
      return {random(shape.d_head), random(shape.d_head)};
    case AttentionOp::kSoftmaxNaive:
    case AttentionOp::kSoftmaxFused:
      return {random(shape.seq), {}};
    case AttentionOp::kPv:
      return {random(shape.seq), random(shape.d_head)};
  }
  TORCH_CHECK(false, "no such op");
}

at::Tensor ComputeAttentionOp(AttentionOp op, const AttentionOpInputs& inputs) {
  const at::NoGradGuard no_grad;
  const auto& [a, b] = inputs;
  switch (op) {
    case AttentionOp::kQk:
      return at::matmul(a, b.transpose(-2, -1));
    case AttentionOp::kSoftmaxNaive: {
      // A separate statement, so that the temporaries of NaiveSoftmax(a), which
      // live until the end of their full expression, are freed before the cast.
      const at::Tensor weights = NaiveSoftmax(a);
      return weights.to(a.scalar_type());
    }
    case AttentionOp::kSoftmaxFused:
      return at::softmax(a, -1);
    case AttentionOp::kPv:
      return at::matmul(a, b);
  }
  TORCH_CHECK(false, "no such op");
}

absl::Status VerifyAttentionOp(AttentionOp op,
                               const AttentionOpInputs& inputs) {
  const auto last = [](const at::Tensor& x) {
    return x.select(0, x.size(0) - 1).select(0, x.size(1) - 1).to(at::kDouble);
  };
  const at::Tensor a = last(inputs.a);
  at::Tensor expected;
  if (op == AttentionOp::kQk) {
    expected = at::mm(a, last(inputs.b).t());
  } else if (op == AttentionOp::kPv) {
    expected = at::mm(a, last(inputs.b));
  } else {
    expected = a.exp() / a.exp().sum(-1, /*keepdim=*/true);
  }
  const at::Tensor actual = last(ComputeAttentionOp(op, inputs));
  const double error = RelativeError(actual, expected);
  // bf16: only the result is rounded; sums are in fp32.
  const double allowed = inputs.a.scalar_type() == at::kBFloat16 ? 4e-3 : 1e-5;
  absl::Status status = CheckError("output", error, allowed,
                                   absl::StrCat("of ", AttentionOpName(op)));
  for (const at::Tensor& input : {inputs.a, inputs.b}) {
    if (status.ok() && input.defined()) status = CheckVaried("an input", input);
  }
  return status;
}

}  // namespace trainbench
