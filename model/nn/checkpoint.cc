// SPDX-License-Identifier: MIT

#include "model/nn/checkpoint.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/types.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "model/fused/arguments.h"
#include "model/nn/autocast.h"
#include "model/nn/component.h"

namespace trainbench {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::edge_list;
using torch::autograd::Engine;
using torch::autograd::variable_list;
using torch::autograd::impl::gradient_edge;

struct Segment : torch::CustomClassHolder {
  Segment(CheckpointedWork of, const Autocast& as)
      : work(std::move(of)), autocast(as) {}

  variable_list Run(const variable_list& inputs) const {
    const AutocastScope as_in_the_forward_pass(autocast);
    return work(inputs);
  }

  const CheckpointedWork work;
  const Autocast autocast;
};

// Detached copies of the inputs, as leaves of a new graph.
variable_list Detached(const variable_list& inputs) {
  variable_list leaves;
  for (const at::Tensor& input : inputs) {
    leaves.push_back(input.detach().set_requires_grad(input.requires_grad()));
  }
  return leaves;
}

// Removes the hooks from the leaves' gradients. The hooks run later, when the
// node returns the gradients.
class WithoutHooks {
 public:
  explicit WithoutHooks(const variable_list& leaves) : leaves_(leaves) {
    for (const at::Tensor& leaf : leaves_) {
      hooks_.push_back(std::exchange(torch::autograd::impl::hooks(leaf), {}));
    }
  }
  ~WithoutHooks() {
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      torch::autograd::impl::hooks(leaves_[i]) = std::move(hooks_[i]);
    }
  }
  WithoutHooks(const WithoutHooks&) = delete;
  WithoutHooks& operator=(const WithoutHooks&) = delete;

 private:
  using Hooks = std::vector<std::unique_ptr<torch::autograd::FunctionPreHook>>;

  const variable_list& leaves_;
  std::vector<Hooks> hooks_;
};

// The edges where gradients enter a graph, and these gradients.
struct Roots {
  edge_list edges;
  variable_list gradients;
};

// Runs the segment with a graph. Only the graph is kept, not the results.
Roots Recompute(const Segment& segment, const variable_list& inputs,
                const variable_list& gradients) {
  const at::AutoGradMode with_graph(true);
  const SpanScope span(kRecomputeSpan);
  const variable_list results = segment.Run(inputs);
  Roots roots;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!gradients[i].defined() || !results[i].requires_grad()) continue;
    roots.edges.push_back(gradient_edge(results[i]));
    roots.gradients.push_back(gradients[i]);
  }
  return roots;
}

// Undefined for leaves that require no gradient.
variable_list GradientsOf(const variable_list& leaves, const Roots& roots) {
  variable_list wanted;
  edge_list edges;
  for (const at::Tensor& leaf : leaves) {
    if (!leaf.requires_grad()) continue;
    wanted.push_back(leaf);
    edges.push_back(gradient_edge(leaf));
  }
  const WithoutHooks later(wanted);
  const variable_list found = Engine::get_default_engine().execute(
      roots.edges, roots.gradients, /*keep_graph=*/false,
      /*create_graph=*/false, /*accumulate_grad=*/false, edges);
  variable_list gradients;
  auto next = found.begin();
  for (const at::Tensor& leaf : leaves) {
    gradients.push_back(leaf.requires_grad() ? *next++ : at::Tensor());
  }
  return gradients;
}

class CheckpointFunction
    : public torch::autograd::Function<CheckpointFunction> {
 public:
  static variable_list forward(AutogradContext* ctx,
                               const c10::intrusive_ptr<Segment>& segment,
                               at::TensorList inputs,
                               at::TensorList parameters) {
    variable_list kept = inputs.vec();
    ctx->saved_data["inputs"] = static_cast<int64_t>(kept.size());
    kept.insert(kept.end(), parameters.begin(), parameters.end());
    ctx->save_for_backward(std::move(kept));
    ctx->saved_data["segment"] = c10::IValue::make_capsule(segment);
    ctx->set_materialize_grads(false);
    return segment->Run(inputs.vec());
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    RefuseSecondDerivative("checkpoint");
    const auto segment = c10::static_intrusive_pointer_cast<Segment>(
        ctx->saved_data["segment"].toCapsule());
    variable_list leaves = ctx->get_saved_variables();
    const auto first_parameter =
        leaves.begin() + ctx->saved_data["inputs"].toInt();
    const variable_list inputs = Detached({leaves.begin(), first_parameter});
    std::copy(inputs.begin(), inputs.end(), leaves.begin());
    const Roots roots = Recompute(*segment, inputs, gradients);
    variable_list result = GradientsOf(leaves, roots);
    result.insert(result.begin(), at::Tensor());  // for the segment
    return result;
  }
};

}  // namespace

std::vector<at::Tensor> Checkpoint(CheckpointedWork work,
                                   const std::vector<at::Tensor>& inputs,
                                   const std::vector<at::Tensor>& parameters) {
  if (!at::GradMode::is_enabled()) return work(inputs);
  Autocast autocast = CurrentAutocast(inputs.front().device().type());
  autocast.caches = false;
  const auto segment = c10::make_intrusive<Segment>(std::move(work), autocast);
  // Marks in the profile the node's own work, apart from the recomputed work.
  { const ProfiledOperator made("trainbench::checkpoint"); }
  return CheckpointFunction::apply(segment, at::TensorList(inputs),
                                   at::TensorList(parameters));
}

}  // namespace trainbench
