// SPDX-License-Identifier: MIT

#include "model/fused/swiglu.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include "model/fused/arguments.h"
#include "model/fused/launch.h"
#include "model/kernels/swiglu.h"

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
    std::vector<int64_t> sizes = input.sizes().vec();
    sizes.back() /= 2;
    const int64_t d_ff = sizes.back();
    const at::Tensor result = at::empty(sizes, input.options());
    Launch(input, kernels::SwigluForwardArgs{.dtype = DtypeOf(input),
                                             .rows = result.numel() / d_ff,
                                             .columns = d_ff,
                                             .input_stride = 2 * d_ff,
                                             .gate = In(input),
                                             .up = In(input, d_ff),
                                             .y = Out(result)});
    RecordKernel("trainbench::swiglu", [&] {
      return BytesOf({input, result});
    });
    return result;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    RefuseSecondDerivative("SwiGLU");
    const at::Tensor input = ctx->get_saved_variables()[0];
    const at::Tensor gradient = gradients[0].contiguous();
    const at::Tensor result = at::empty_like(input);
    const int64_t d_ff = gradient.size(-1);
    Launch(input, kernels::SwigluBackwardArgs{.dtype = DtypeOf(input),
                                              .rows = gradient.numel() / d_ff,
                                              .columns = d_ff,
                                              .input_stride = 2 * d_ff,
                                              .gate = In(input),
                                              .up = In(input, d_ff),
                                              .grad_y = In(gradient),
                                              .grad_gate = Out(result),
                                              .grad_up = Out(result, d_ff)});
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
