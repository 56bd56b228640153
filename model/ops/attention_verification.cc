// SPDX-License-Identifier: MIT

#include "model/ops/attention_verification.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_format.h"
#include "model/spec/check_log.h"
#include "model/verification/inputs.h"

namespace trainbench {
namespace {

constexpr int64_t kBlock = 64;
// Scores [rows, keys] of the reference. On a CPU: the total that takes about
// 0.1 s, and a chunk that fits into the cache. On a GPU: a chunk that fits into
// memory but is large enough for a kernel to be efficient.
constexpr int64_t kScoresOnCpu = int64_t{1} << 24;
constexpr int64_t kAtOnceOnCpu = int64_t{1} << 18;
constexpr int64_t kAtOnceOnGpu = int64_t{1} << 24;

int64_t RowsAtOnce(int64_t seq, bool on_cpu) {
  const int64_t rows = (on_cpu ? kAtOnceOnCpu : kAtOnceOnGpu) / seq;
  return std::min(seq, std::max(kBlock, rows));
}

// The sequences to compare.
std::vector<int64_t> SequencesOf(const at::Tensor& x, int64_t rows) {
  const int64_t all = x.size(0);
  const int64_t count =
      x.is_cpu()
          ? std::clamp(kScoresOnCpu / (rows * x.size(1)), int64_t{1}, all)
          : all;
  // 32-bit integers have values in a dry run, too.
  const at::Tensor drawn =
      count < all ? at::randperm(all, at::kInt) : at::arange(all, at::kInt);
  const auto* first = drawn.const_data_ptr<int32_t>();
  return {first, first + count};
}

// Results of one sequence, each [seq, d_head] in float64. The gradients of k
// and v are sums over the compared rows only.
struct Results {
  at::Tensor output, q_gradient, k_gradient, v_gradient;
};

// The formulas of Vaswani et al. 2017, differentiated by hand, for row `first`
// and all later rows of a sequence.
Results AttentionReference(const at::Tensor& q, const at::Tensor& k,
                           const at::Tensor& v, const at::Tensor& g,
                           int64_t first) {
  const int64_t seq = q.size(0);
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(1)));
  const Results found = {at::zeros_like(q), at::zeros_like(q),
                         at::zeros_like(q), at::zeros_like(q)};
  for (int64_t row = first; row < seq;) {
    const int64_t rows = std::min(RowsAtOnce(seq, q.is_cpu()), seq - row);
    const auto mine = [&](const at::Tensor& x) {
      return x.narrow(0, row, rows);
    };
    // A row attends to no later key.
    const int64_t keys = row + rows;
    const auto seen = [&](const at::Tensor& x) { return x.narrow(0, 0, keys); };
    const at::Tensor hidden =
        at::ones({rows, keys}, q.options().dtype(at::kBool)).triu(row + 1);
    const at::Tensor weights =
        (at::mm(mine(q), seen(k).t()) * scale)
            .masked_fill_(hidden, -std::numeric_limits<double>::infinity())
            .softmax(-1);
    at::Tensor score_gradient = at::mm(mine(g), seen(v).t());
    const at::Tensor mean =
        (weights * score_gradient).sum(-1, /*keepdim=*/true);
    score_gradient.sub_(mean).mul_(weights).mul_(scale);
    mine(found.output).copy_(at::mm(weights, seen(v)));
    mine(found.q_gradient).copy_(at::mm(score_gradient, seen(k)));
    seen(found.k_gradient).addmm_(score_gradient.t(), mine(q));
    seen(found.v_gradient).addmm_(weights.t(), mine(g));
    row += rows;
  }
  return found;
}

struct WorstBlock {
  double error;
  int64_t row;  // its first row
};

// Compares blocks of 64 rows; the last block includes the remaining rows. If a
// block should be 0, such as the gradients of a single key, the error is
// relative to `instead`.
WorstBlock Compare(const at::Tensor& actual, const at::Tensor& expected,
                   const at::Tensor& instead) {
  const int64_t blocks = std::max<int64_t>(1, expected.size(0) / kBlock);
  const at::Tensor block =
      at::arange(expected.size(0), expected.options().dtype(at::kLong))
          .div(kBlock, "floor")
          .clamp_max_(blocks - 1);
  const auto squares = [&](const at::Tensor& x) {
    return at::zeros({blocks}, x.options())
        .index_add_(0, block, x.square().sum(1));
  };
  const at::Tensor size = squares(expected);
  const auto [error, index] = (squares(actual - expected) /
                               at::where(size == 0, squares(instead), size))
                                  .sqrt()
                                  .max(0);
  return {error.item<double>(), kBlock * index.item<int64_t>()};
}

}  // namespace

absl::Status VerifyAttention(const AttentionInputs& inputs,
                             const at::Tensor& output,
                             const std::optional<AttentionGradients>& gradients,
                             double tolerance) {
  const at::NoGradGuard no_grad;
  const int64_t seq = output.size(1);
  const int64_t rows = output.is_cpu()
                           ? std::min(seq, std::max(kBlock, kScoresOnCpu / seq))
                           : seq;
  absl::Status status;
  for (const int64_t sequence : SequencesOf(output, rows)) {
    const auto wide = [&](const at::Tensor& x) {
      return x.detach().select(0, sequence).to(at::kDouble);
    };
    const auto last = [&](const at::Tensor& x) {
      return x.narrow(0, seq - rows, rows);
    };
    const at::Tensor g = wide(inputs.output_gradient);
    const Results expected = AttentionReference(wide(inputs.q), wide(inputs.k),
                                                wide(inputs.v), g, seq - rows);
    const auto compare = [&](const char* name, const at::Tensor& actual,
                             const at::Tensor& wanted) {
      const auto [error, row] =
          Compare(last(wide(actual)), last(wanted), last(g));
      status.Update(
          CheckError(name, error, tolerance,
                     absl::StrFormat("in 64 rows from %d on of sequence %d",
                                     seq - rows + row, sequence)));
    };
    compare("output", output, expected.output);
    if (!gradients) continue;
    compare("q_gradient", gradients->q, expected.q_gradient);
    compare("k_gradient", gradients->k, expected.k_gradient);
    compare("v_gradient", gradients->v, expected.v_gradient);
  }
  for (const at::Tensor& input :
       {inputs.q, inputs.k, inputs.v, inputs.output_gradient}) {
    if (status.ok()) status = CheckVaried("an input", input);
  }
  return status;
}

}  // namespace trainbench
