// SPDX-License-Identifier: MIT

#include "model/fused/swiglu.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include "model/fused/arguments.h"
#include "model/fused/cpu/operations.h"
#include "model/fused/cuda/operations.h"

namespace trainbench {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class SwiGluFunction : public torch::autograd::Function<SwiGluFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx,
                            const at::Tensor& gate_value) {
    const at::Tensor input = gate_value.contiguous();
    ctx->save_for_backward({input});
    const at::Tensor result =
        IsOnCpu(input, "SwiGLU") ? SwigluCpu(input) : SwigluCuda(input);
    RecordKernel("trainbench::swiglu", [&] {
      return BytesOf({input, result});
    });
    return result;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    RefuseSecondDerivative("SwiGLU");
    const auto compute = IsOnCpu(gradients[0], "SwiGLU") ? SwigluBackwardCpu
                                                         : SwigluBackwardCuda;
    const at::Tensor input = ctx->get_saved_variables()[0];
    const at::Tensor result = compute(gradients[0].contiguous(), input);
    RecordKernel("trainbench::swiglu_backward", [&] {
      return BytesOf({gradients[0], input, result});
    });
    return {result};
  }
};

}  // namespace

at::Tensor Swiglu(const at::Tensor& gate_value) {
  TORCH_CHECK(gate_value.numel() > 0 && gate_value.size(-1) % 2 == 0,
              "gate and value are ", gate_value.sizes(),
              "; allowed: [..., 2 d_ff], not empty");
  const ProfiledOperator scope("trainbench::swiglu");
  return SwiGluFunction::apply(gate_value);
}

}  // namespace trainbench
