// SPDX-License-Identifier: MIT

#include "model/fused/rope.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include "model/fused/arguments.h"
#include "model/fused/launch.h"
#include "model/kernels/rope.h"

namespace trainbench {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Rotates `from` [batch, heads, seq, d_head] into `to`, which may be the same.
void Rotate(const at::Tensor& from, const at::Tensor& to, const at::Tensor& cos,
            const at::Tensor& sin, bool backward) {
  Launch(from, kernels::RopeArgs{.dtype = DtypeOf(from),
                                 .batch = from.size(0),
                                 .heads = from.size(1),
                                 .seq = from.size(2),
                                 .d_head = from.size(3),
                                 .backward = backward,
                                 .cos = cos.const_data_ptr<float>(),
                                 .sin = sin.const_data_ptr<float>(),
                                 .from = In(from),
                                 .to = Out(to),
                                 .from_strides = StridesOf(from),
                                 .to_strides = StridesOf(to)});
}

// Takes heads of [batch, seq, heads, d_head] -> [batch, count, seq, d_head].
at::Tensor Part(const at::Tensor& all, int64_t first, int64_t count) {
  return all.narrow(2, first, count).transpose(1, 2);
}

class RopeFunction : public torch::autograd::Function<RopeFunction> {
 public:
  static variable_list forward(AutogradContext* ctx, const at::Tensor& qkv,
                               int64_t heads, int64_t kv_heads,
                               const at::Tensor& cos, const at::Tensor& sin) {
    const int64_t all = heads + 2 * kv_heads;
    const at::Tensor parts =
        qkv.detach().unflatten(-1, {all, qkv.size(-1) / all});
    const at::Tensor rotated = Part(parts, 0, heads + kv_heads);
    Rotate(rotated, rotated, cos, sin, /*backward=*/false);
    RecordKernel("trainbench::split_and_rotate", [&] {
      return BytesOf({rotated, rotated, cos, sin});
    });
    ctx->saved_data["cos"] = cos;
    ctx->saved_data["sin"] = sin;
    return {Part(parts, 0, heads), Part(parts, heads, kv_heads),
            Part(parts, heads + kv_heads, kv_heads)};
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    RefuseSecondDerivative("rotation");
    const at::Tensor q = WithRows(gradients[0]), k = WithRows(gradients[1]);
    const at::Tensor cos = ctx->saved_data["cos"].toTensor();
    const at::Tensor sin = ctx->saved_data["sin"].toTensor();
    const int64_t heads = q.size(1), kv_heads = k.size(1);
    const at::Tensor result = at::empty(
        {q.size(0), q.size(2), heads + 2 * kv_heads, q.size(3)}, q.options());
    Rotate(q, Part(result, 0, heads), cos, sin, /*backward=*/true);
    Rotate(k, Part(result, heads, kv_heads), cos, sin, /*backward=*/true);
    RecordKernel("trainbench::split_and_rotate_backward", [&] {
      return BytesOf({q, k, Part(result, 0, heads + kv_heads)});
    });
    Part(result, heads + kv_heads, kv_heads).copy_(gradients[2]);
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
