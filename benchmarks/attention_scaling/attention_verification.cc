// SPDX-License-Identifier: MIT

#include "benchmarks/attention_scaling/attention_verification.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"
#include "model/verification/inputs.h"

namespace trainbench {
namespace {

constexpr int64_t kRows = 64;

// The last sequence, [seq, d_head], in float64.
at::Tensor LastSequence(const at::Tensor& x) {
  return x.detach().select(0, x.size(0) - 1).to(at::kDouble);
}

at::Tensor LastRows(const at::Tensor& x) {
  const int64_t rows = std::min(kRows, x.size(0));
  return x.narrow(0, x.size(0) - rows, rows);
}

// The formulas of Vaswani et al. 2017, differentiated by hand.
struct Reference {
  at::Tensor output, q_gradient, k_gradient, v_gradient;  // last rows
};

Reference Compute(const AttentionInputs& inputs) {
  const at::Tensor k = LastSequence(inputs.k), v = LastSequence(inputs.v);
  const at::Tensor q = LastRows(LastSequence(inputs.q));
  const at::Tensor g = LastRows(LastSequence(inputs.output_gradient));
  const int64_t seq = k.size(0), rows = q.size(0);
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(1)));
  // Row i is the query at position seq - rows + i, which sees no later key.
  const at::Tensor hidden =
      at::ones({rows, seq}, k.options().dtype(at::kBool)).triu(seq - rows + 1);
  const at::Tensor weights =
      (at::mm(q, k.t()) * scale)
          .masked_fill(hidden, -std::numeric_limits<double>::infinity())
          .softmax(-1);
  const at::Tensor weight_gradient = at::mm(g, v.t());
  const at::Tensor mean = (weights * weight_gradient).sum(-1, /*keepdim=*/true);
  const at::Tensor score_gradient = weights * (weight_gradient - mean) * scale;
  const auto last_keys = [&](const at::Tensor& x) {
    return x.narrow(1, seq - rows, rows).t();
  };
  return {.output = at::mm(weights, v),
          .q_gradient = at::mm(score_gradient, k),
          .k_gradient = at::mm(last_keys(score_gradient), q),
          .v_gradient = at::mm(last_keys(weights), g)};
}

}  // namespace

absl::Status VerifyAttention(const AttentionInputs& inputs,
                             const at::Tensor& output,
                             const AttentionGradients& gradients,
                             double tolerance) {
  const at::NoGradGuard no_grad;
  const Reference reference = Compute(inputs);
  struct Pair {
    const char* name;
    const at::Tensor& actual;
    const at::Tensor& expected;
  };
  const Pair pairs[] = {{"output", output, reference.output},
                        {"gradient of q", gradients.q, reference.q_gradient},
                        {"gradient of k", gradients.k, reference.k_gradient},
                        {"gradient of v", gradients.v, reference.v_gradient}};
  for (const Pair& pair : pairs) {
    const at::Tensor actual = LastRows(LastSequence(pair.actual));
    // With a single key the gradients of q and k are 0: compare the error with
    // the gradient of the output.
    double size = pair.expected.norm().item<double>();
    if (size == 0) size = inputs.output_gradient.norm().item<double>();
    const double error = (actual - pair.expected).norm().item<double>() / size;
    if (error <= tolerance) continue;  // false for NaN too
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s differs from float64 by %.3g relative; allowed: %.3g", pair.name,
        error, tolerance));
  }
  absl::Status status;
  for (const at::Tensor& input :
       {inputs.q, inputs.k, inputs.v, inputs.output_gradient}) {
    if (status.ok()) status = CheckVaried("an input", input);
  }
  return status;
}

}  // namespace trainbench
