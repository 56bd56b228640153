// SPDX-License-Identifier: MIT

#include "model/fused/rope.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include "model/fused/arguments.h"
#include "model/fused/rotation.h"

namespace trainbench {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class RopeFunction : public torch::autograd::Function<RopeFunction> {
 public:
  static variable_list forward(AutogradContext* ctx, const at::Tensor& qkv,
                               int64_t heads, int64_t kv_heads,
                               const at::Tensor& cos, const at::Tensor& sin) {
    const int64_t all = heads + 2 * kv_heads;
    const at::Tensor parts =
        qkv.detach().unflatten(-1, {all, qkv.size(-1) / all});
    const auto rotate = qkv.is_cpu() ? RotateInPlaceCpu : RotateInPlaceCuda;
    rotate(parts, heads, cos, sin);
    RecordKernel("trainbench::split_and_rotate", [&] {
      const at::Tensor rotated = parts.narrow(2, 0, heads + kv_heads);
      return BytesOf({rotated, rotated, cos, sin});
    });
    ctx->saved_data["cos"] = cos;
    ctx->saved_data["sin"] = sin;
    const auto part = [&](int64_t first, int64_t count) {
      return parts.narrow(2, first, count).transpose(1, 2);
    };
    return {part(0, heads), part(heads, kv_heads),
            part(heads + kv_heads, kv_heads)};
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    RefuseSecondDerivative("rotation");
    const auto rotate = gradients[0].is_cpu() ? RotateBackCpu : RotateBackCuda;
    const at::Tensor result = rotate(
        {WithRows(gradients[0]), WithRows(gradients[1]),
         WithRows(gradients[2])},
        ctx->saved_data["cos"].toTensor(), ctx->saved_data["sin"].toTensor());
    RecordKernel("trainbench::split_and_rotate_backward", [&] {
      return BytesOf({gradients[0], gradients[1], gradients[2], result});
    });
    return {result.flatten(2), {}, {}, {}, {}};
  }
};

}  // namespace

Heads SplitAndRotate(at::Tensor qkv, int64_t heads, int64_t kv_heads,
                     const at::Tensor& cos, const at::Tensor& sin) {
  const int64_t all = heads + 2 * kv_heads;
  TORCH_CHECK(heads > 0 && kv_heads > 0 && qkv.dim() == 3 &&
                  qkv.is_contiguous() && qkv.size(-1) % (2 * all) == 0,
              "qkv is ", qkv.sizes(), " for ", heads, " heads and ", kv_heads,
              " key and value heads; allowed: [batch, seq, (heads + 2 "
              "kv_heads) d_head], contiguous, with an even d_head");
  for (const at::Tensor& table : {cos, sin}) {
    TORCH_CHECK(table.scalar_type() == at::kFloat && table.is_contiguous() &&
                    table.device() == qkv.device() && table.dim() == 2 &&
                    table.size(0) >= qkv.size(1) &&
                    table.size(1) * 2 * all == qkv.size(-1),
                "the angles are ", table.toString(), table.sizes(), " on ",
                table.device(),
                "; allowed: Float [at least seq, d_head / 2] on ",
                qkv.device());
  }
  const ProfiledOperator scope("trainbench::split_and_rotate");
  variable_list result = RopeFunction::apply(qkv, heads, kv_heads, cos, sin);
  return {std::move(result[0]), std::move(result[1]), std::move(result[2])};
}

}  // namespace trainbench
