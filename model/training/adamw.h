// SPDX-License-Identifier: MIT

#ifndef TRAINBENCH_MODEL_TRAINING_ADAMW_H_
#define TRAINBENCH_MODEL_TRAINING_ADAMW_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "model/spec/enum_names.h"

namespace trainbench {

struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;
};

// kTextbook updates one parameter after the other with elementwise operations;
// kFused updates all of them in one kernel (at::_fused_adamw_).
enum class AdamWKind { kTextbook, kFused };

inline constexpr EnumNames<AdamWKind, 2> AdamWName{"textbook", "fused"};

// AdamW (Loshchilov & Hutter 2019) with decoupled weight decay and bias
// correction, equal to torch.optim.AdamW. The constructor allocates both
// moments as zeros in the parameter's dtype, so memory is in its steady state
// before the first step.
class AdamW {
 public:
  // All parameters must have the same dtype and device.
  AdamW(std::vector<at::Tensor> parameters, AdamWKind kind,
        const AdamWOptions& options = {});

  // Updates each parameter in place from its gradient. A parameter without a
  // gradient is skipped, and its step count does not change.
  void Step();

  const AdamWOptions& options() const { return options_; }

  const std::vector<at::Tensor>& first_moments() const {
    return first_moments_;
  }
  // The moments and the step counts on the device: the tensors that Step()
  // changes in addition to the parameters.
  std::vector<at::Tensor> State() const;
  // Bytes of State().
  int64_t StateBytes() const;

 private:
  void StepTextbook(std::size_t i);
  void StepFused();

  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> first_moments_;
  std::vector<at::Tensor> second_moments_;
  // Textbook: step counts on the host. Fused: fp32 scalars on the device, as
  // the kernel requires.
  std::vector<int64_t> host_steps_;
  std::vector<at::Tensor> device_steps_;
  AdamWKind kind_;
  AdamWOptions options_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_TRAINING_ADAMW_H_
