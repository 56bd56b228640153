// SPDX-License-Identifier: MIT
// A step of the ToyModel under autocast, and the dtypes of its tensors.

#ifndef TRAINBENCH_BENCHMARKS_AUTOCAST_DTYPES_TOY_STEP_H_
#define TRAINBENCH_BENCHMARKS_AUTOCAST_DTYPES_TOY_STEP_H_

#include <ATen/core/Tensor.h>

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/ops/toy_model.h"
#include "model/spec/phase.h"

namespace trainbench {

// A tensor's name in the step and its dtype, for example {"logits", fp16}.
struct NamedDtype {
  absl::string_view name;
  c10::ScalarType dtype;
  bool operator==(const NamedDtype&) const = default;
};
using Dtypes = std::vector<NamedDtype>;

// Runs forward pass and cross-entropy under autocast in `low`, then backward
// outside autocast. Returns the dtypes of these tensors: parameters, fc1, relu,
// layer_norm, logits, loss, gradients. Releases the gradients.
Dtypes RunToyStep(ToyModel& model, const ToyBatch& data, c10::ScalarType low,
                  PhaseObserver& observer);

// Returns the dtypes that PyTorch documents for autocast in `low`: `low` for
// matrix products, fp32 for losses; for layer_norm fp32 on CUDA and the input's
// dtype on a CPU; parameters and gradients stay fp32.
// docs.pytorch.org/docs/2.11/amp.html#autocast-op-reference
Dtypes DocumentedDtypes(c10::ScalarType low, c10::DeviceType device);

// Compares the same tensors. FailedPrecondition names each unexpected dtype.
absl::Status CompareDtypes(const Dtypes& found, const Dtypes& expected);

// Returns FailedPrecondition if the logits under autocast differ from float64
// logits by more than rounding to `low` explains, or if the input is constant.
absl::Status CheckToyLogits(ToyModel& model, const at::Tensor& x,
                            c10::ScalarType low);

}  // namespace trainbench

#endif  // TRAINBENCH_BENCHMARKS_AUTOCAST_DTYPES_TOY_STEP_H_
