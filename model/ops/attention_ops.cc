// SPDX-License-Identifier: MIT

#include "model/ops/attention_ops.h"

#include <torch/types.h>

#include <string>

#include "absl/strings/str_format.h"
#include "model/nn/attention.h"
#include "model/verification/relative_error.h"

namespace trainbench {

absl::string_view AttentionPartName(AttentionPart part) {
  switch (part) {
    case AttentionPart::kQk:
      return "qk";
    case AttentionPart::kSoftmaxNaive:
      return "softmax_naive";
    case AttentionPart::kSoftmaxFused:
      return "softmax_fused";
    case AttentionPart::kPv:
      return "pv";
  }
  return "unknown";
}

AttentionPartInputs RandomPartInputs(AttentionPart part,
                                     const AttentionPartShape& shape,
                                     const at::TensorOptions& options) {
  const auto random = [&](int64_t columns) {
    return at::randn({shape.batch, shape.heads, shape.seq, columns}, options);
  };
  switch (part) {
    case AttentionPart::kQk:
      return {random(shape.d_head), random(shape.d_head)};
    case AttentionPart::kSoftmaxNaive:
    case AttentionPart::kSoftmaxFused:
      return {random(shape.seq), {}};
    case AttentionPart::kPv:
      return {random(shape.seq), random(shape.d_head)};
  }
  TORCH_CHECK(false, "no such part");
}

at::Tensor ComputeAttentionPart(AttentionPart part,
                                const AttentionPartInputs& inputs) {
  const at::NoGradGuard no_grad;
  const auto& [a, b] = inputs;
  switch (part) {
    case AttentionPart::kQk:
      return at::matmul(a, b.transpose(-2, -1));
    case AttentionPart::kSoftmaxNaive: {
      // On a line of its own: an argument lives as long as the expression.
      const at::Tensor weights = NaiveSoftmax(a);
      return weights.to(a.scalar_type());
    }
    case AttentionPart::kSoftmaxFused:
      return at::softmax(a, -1);
    case AttentionPart::kPv:
      return at::matmul(a, b);
  }
  TORCH_CHECK(false, "no such part");
}

absl::Status VerifyAttentionPart(AttentionPart part,
                                 const AttentionPartInputs& inputs) {
  const auto last = [](const at::Tensor& x) {
    return x.select(0, x.size(0) - 1).select(0, x.size(1) - 1).to(at::kDouble);
  };
  const at::Tensor a = last(inputs.a);
  at::Tensor expected;
  if (part == AttentionPart::kQk) {
    expected = at::mm(a, last(inputs.b).t());
  } else if (part == AttentionPart::kPv) {
    expected = at::mm(a, last(inputs.b));
  } else {
    expected = a.exp() / a.exp().sum(-1, /*keepdim=*/true);
  }
  const at::Tensor actual = last(ComputeAttentionPart(part, inputs));
  const double error = RelativeError(actual, expected);
  // Of bf16 the rounding of the result; sums are in fp32.
  const double allowed = inputs.a.scalar_type() == at::kBFloat16 ? 4e-3 : 1e-5;
  if (error <= allowed) return absl::OkStatus();  // false for NaN too
  return absl::FailedPreconditionError(
      absl::StrFormat("%s differs from float64 by %.3g relative; allowed: %.3g",
                      std::string(AttentionPartName(part)), error, allowed));
}

}  // namespace trainbench
