// SPDX-License-Identifier: MIT

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <utility>

#include "model/distributed/tensor_parallel/tensor_ranks.h"
#include "model/nn/dtype.h"

namespace trainbench {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct LocalIds {
  at::Tensor rows;     // rows of this rank's words; arbitrary for others
  at::Tensor foreign;  // whether another rank has the word
};

LocalIds FindWords(const at::Tensor& ids, const IndexRange& words) {
  const at::Tensor local = ids - words.first;
  at::Tensor rows = local.clamp(0, words.count - 1);
  at::Tensor foreign = rows.ne(local);
  return {std::move(rows), std::move(foreign)};
}

// Computes on fp32 or fp64 logits [positions, words].
class VocabularyLossFunction
    : public torch::autograd::Function<VocabularyLossFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& logits,
                            const at::Tensor& targets, const IndexRange& words,
                            TensorRanks* ranks, bool with_gradient) {
    const at::Tensor values = logits.detach();
    {
      const at::Tensor largest = values.amax(-1, /*keepdim=*/true);
      ranks->Max(largest);
      values.sub_(largest);
    }
    const LocalIds ids = FindWords(targets, words);
    at::Tensor chosen = values.gather(-1, ids.rows.unsqueeze(-1)).squeeze(-1);
    chosen.masked_fill_(ids.foreign, 0);
    const at::Tensor both = at::stack({values.exp_().sum(-1), chosen});
    chosen.reset();
    ranks->Sum(both);
    const at::Tensor sums = both[0];
    // Not save_for_backward, which would reject the overwritten logits.
    if (with_gradient) {
      ctx->saved_data["exponentials"] = values;
      ctx->saved_data["sums"] = sums;
      ctx->saved_data["rows"] = ids.rows;
      ctx->saved_data["foreign"] = ids.foreign;
    }
    return sums.log().sub_(both[1]).mean();
  }

  // The gradient: (exponential / sum - 1 for the target) / positions.
  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    TORCH_CHECK(!at::GradMode::is_enabled(),
                "the cross entropy of several ranks has no second derivative");
    TORCH_CHECK(ctx->saved_data.count("exponentials") == 1,
                "the gradient of the cross entropy of several ranks went to an "
                "earlier backward pass; allowed: one pass");
    const auto take = [&](const char* name) {
      return ctx->saved_data.at(name).toTensor();
    };
    at::Tensor gradient = take("exponentials");
    const at::Tensor share =
        gradients[0] / static_cast<double>(gradient.size(0));
    gradient.mul_((share / take("sums")).unsqueeze(-1));
    const at::Tensor ones =
        take("foreign").to(gradient.scalar_type()).sub_(1).mul_(share);
    gradient.scatter_add_(-1, take("rows").unsqueeze(-1), ones.unsqueeze(-1));
    ctx->saved_data.clear();
    return {std::move(gradient), {}, {}, {}, {}};
  }
};

}  // namespace

at::Tensor TensorRanks::Embed(const at::Tensor& weight,
                              const at::Tensor& tokens) {
  const LocalIds ids = FindWords(tokens, words_);
  at::Tensor rows = at::embedding(weight, ids.rows);
  rows.masked_fill_(ids.foreign.unsqueeze(-1), 0);
  return Leave(std::move(rows));
}

at::Tensor TensorRanks::CrossEntropy(at::Tensor logits,
                                     const at::Tensor& targets) {
  TORCH_CHECK(logits.dim() > 0 && logits.is_contiguous() &&
                  logits.size(-1) == words_.count &&
                  logits.sizes().slice(0, logits.dim() - 1) == targets.sizes(),
              "logits are ", logits.sizes(), " and targets ", targets.sizes(),
              "; allowed: contiguous logits [targets..., ", words_.count, "]");
  logits = logits.to(AtLeastFloat(logits.scalar_type())).flatten(0, -2);
  const bool with_gradient =
      at::GradMode::is_enabled() && logits.requires_grad();
  return VocabularyLossFunction::apply(std::move(logits), targets.flatten(),
                                       words_, this, with_gradient);
}

}  // namespace trainbench
