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

namespace {

// Returns the result for a head, written out; all in fp64.
at::Tensor ReferenceOf(AttentionOp op, const at::Tensor& a,
                       const at::Tensor& b) {
  switch (op) {
    case AttentionOp::kQk:
      return at::mm(a, b.t());
    case AttentionOp::kPv:
      return at::mm(a, b);
    case AttentionOp::kSoftmaxNaive:
    case AttentionOp::kSoftmaxFused: {
      const at::Tensor exponentials = a.exp();
      return exponentials / exponentials.sum(-1, /*keepdim=*/true);
    }
  }
  TORCH_CHECK(false, "no such op");
}

}  // namespace

absl::Status VerifyAttentionOp(AttentionOp op,
                               const AttentionOpInputs& inputs) {
  const at::Tensor output = ComputeAttentionOp(op, inputs);
  // bf16: only the result is rounded; sums are in fp32.
  const double allowed = output.scalar_type() == at::kBFloat16 ? 4e-3 : 1e-5;
  absl::Status status;
  // One head at a time, because fp64 takes two to four times the memory.
  for (int64_t i = 0; i < output.size(0) * output.size(1); ++i) {
    const auto head = [i](const at::Tensor& x) {
      return x.defined() ? x.flatten(0, 1)[i].to(at::kDouble) : x;
    };
    const at::Tensor expected = ReferenceOf(op, head(inputs.a), head(inputs.b));
    status.Update(
        CheckError("output", RelativeError(head(output), expected), allowed,
                   absl::StrCat("in head ", i, " of ", AttentionOpName(op))));
  }
  for (const at::Tensor& input : {inputs.a, inputs.b}) {
    if (status.ok() && input.defined()) status = CheckVaried("an input", input);
  }
  return status;
}

}  // namespace trainbench
