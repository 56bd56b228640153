// SPDX-License-Identifier: MIT

#include "benchmarks/autocast_dtypes/toy_step.h"

#include <torch/types.h>

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "model/nn/autocast.h"
#include "model/nn/dtype.h"
#include "model/spec/check_log.h"
#include "model/verification/inputs.h"
#include "model/verification/relative_error.h"

namespace trainbench {
namespace {

// Returns the logits in float64, operation by operation.
at::Tensor ReferenceLogits(const ToyModelImpl& model, const at::Tensor& x) {
  const auto wide = [](const at::Tensor& t) {
    return t.detach().to(at::kDouble);
  };
  const at::Tensor relu =
      at::matmul(wide(x), wide(model.fc1->weight).t()).clamp_min(0);
  const at::Tensor centered = relu - relu.mean(-1, /*keepdim=*/true);
  const at::Tensor variance = centered.square().mean(-1, /*keepdim=*/true);
  const at::Tensor norm = centered /
                              (variance + ToyModelImpl::kNormEps).sqrt() *
                              wide(model.norm_weight) +
                          wide(model.norm_bias);
  return at::matmul(norm, wide(model.fc2->weight).t());
}

}  // namespace

Dtypes RunToyStep(ToyModel& model, const ToyBatch& data, c10::ScalarType low,
                  PhaseObserver& observer) {
  ToyActivations found;
  at::Tensor loss;
  {
    const AutocastScope autocast(low, data.x.device().type());
    observer.Enter(Phase::kForward);
    found = model(data.x);
    observer.Enter(Phase::kLoss);
    loss = at::cross_entropy_loss(found.logits, data.targets);
  }
  observer.Enter(Phase::kBackward);
  loss.backward();
  const at::Tensor& weight = model->fc1->weight;
  Dtypes dtypes = {{"parameters", weight.scalar_type()},
                   {"fc1", found.fc1.scalar_type()},
                   {"relu", found.relu.scalar_type()},
                   {"layer_norm", found.layer_norm.scalar_type()},
                   {"logits", found.logits.scalar_type()},
                   {"loss", loss.scalar_type()},
                   {"gradients", weight.grad().scalar_type()}};
  model->zero_grad(/*set_to_none=*/true);
  return dtypes;
}

Dtypes DocumentedDtypes(c10::ScalarType low, c10::DeviceType device) {
  const c10::ScalarType norm = device == c10::kCUDA ? c10::kFloat : low;
  return {{"parameters", c10::kFloat}, {"fc1", low},    {"relu", low},
          {"layer_norm", norm},        {"logits", low}, {"loss", c10::kFloat},
          {"gradients", c10::kFloat}};
}

absl::Status CompareDtypes(const Dtypes& found, const Dtypes& expected) {
  std::string wrong;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (found[i] == expected[i]) continue;
    absl::StrAppend(&wrong, wrong.empty() ? "" : ", ", expected[i].name, " is ",
                    DtypeName(found[i].dtype), " instead of ",
                    DtypeName(expected[i].dtype));
  }
  return wrong.empty() ? absl::OkStatus()
                       : absl::FailedPreconditionError(wrong);
}

absl::Status CheckToyLogits(ToyModel& model, const at::Tensor& x,
                            c10::ScalarType low) {
  const at::NoGradGuard no_grad;
  const at::Tensor expected = ReferenceLogits(*model, x);
  const AutocastScope autocast(low, x.device().type());
  const double error = RelativeError(model(x).logits, expected);
  // Inputs, weights and results of two products and a norm are rounded.
  const double allowed = 8 * (low == c10::kHalf ? 0x1p-11 : 0x1p-8);
  const absl::Status status = CheckError("logits", error, allowed);
  return status.ok() ? CheckVaried("the input", x) : status;
}

}  // namespace trainbench
