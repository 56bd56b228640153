// SPDX-License-Identifier: MIT

#include "model/fused/product.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include "model/fused/arguments.h"
#include "model/fused/mm.h"

namespace trainbench {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

bool AreAdjacent(at::TensorList matrices) {
  const at::Tensor& first = matrices.front();
  int64_t offset = first.storage_offset();
  for (const at::Tensor& matrix : matrices) {
    if (!matrix.is_contiguous() || !matrix.is_alias_of(first) ||
        matrix.storage_offset() != offset) {
      return false;
    }
    offset += matrix.numel();
  }
  return true;
}

// Returns the rows of all matrices in `dtype`, without a copy if possible.
at::Tensor Join(at::TensorList matrices, at::ScalarType dtype) {
  const at::Tensor& first = matrices.front();
  int64_t rows = 0;
  for (const at::Tensor& matrix : matrices) rows += matrix.size(0);
  if (dtype == first.scalar_type() && AreAdjacent(matrices)) {
    return first.detach().as_strided({rows, first.size(1)}, {first.size(1), 1});
  }
  at::Tensor joined =
      at::empty({rows, first.size(1)}, first.options().dtype(dtype));
  int64_t row = 0;
  for (const at::Tensor& matrix : matrices) {
    joined.narrow(0, row, matrix.size(0)).copy_(matrix);
    row += matrix.size(0);
  }
  return joined;
}

at::Tensor AsMatrix(const at::Tensor& x) { return x.flatten(0, -2); }

class JoinedProductFunction
    : public torch::autograd::Function<JoinedProductFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x,
                            at::TensorList weights, at::TensorList biases) {
    const at::ScalarType dtype =
        ProductType(weights[0].scalar_type(), x.device());
    const at::Tensor input = AsMatrix(x).to(dtype);
    const at::Tensor joined = Join(weights, dtype);
    ctx->save_for_backward({input, joined});
    ctx->saved_data["sizes"] = x.sizes();
    ctx->saved_data["input_dtype"] = x.scalar_type();
    ctx->saved_data["weight_dtype"] = weights[0].scalar_type();
    std::vector<int64_t> rows, sizes = x.sizes().vec();
    for (const at::Tensor& weight : weights) rows.push_back(weight.size(0));
    ctx->saved_data["rows"] = rows;
    ctx->saved_data["has_biases"] = !biases.empty();
    sizes.back() = joined.size(0);
    const at::Tensor product = Mm(input, joined.t());
    if (!biases.empty()) product.add_(at::cat(biases).to(dtype));
    return product.view(sizes);
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    RefuseSecondDerivative("product");
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor& input = saved[0];
    const at::Tensor& joined = saved[1];
    const at::Tensor gradient = AsMatrix(gradients[0]).to(joined.scalar_type());
    variable_list result;
    result.emplace_back();
    if (ctx->needs_input_grad(0)) {
      result[0] = Mm(gradient, joined)
                      .to(ctx->saved_data["input_dtype"].toScalarType())
                      .view(ctx->saved_data["sizes"].toIntVector());
    }
    const auto dtype = ctx->saved_data["weight_dtype"].toScalarType();
    const std::vector<int64_t> rows = ctx->saved_data["rows"].toIntVector();
    for (const at::Tensor& one :
         Mm(gradient.t(), input).to(dtype).split_with_sizes(rows)) {
      result.push_back(one);
    }
    if (!ctx->saved_data["has_biases"].toBool()) return result;
    for (const at::Tensor& one :
         gradient.sum(0).to(dtype).split_with_sizes(rows)) {
      result.push_back(one);
    }
    return result;
  }
};

}  // namespace

std::vector<at::Tensor> AdjacentMatrices(const std::vector<int64_t>& rows,
                                         int64_t columns,
                                         const at::TensorOptions& options) {
  int64_t sum = 0;
  for (const int64_t count : rows) sum += count;
  const at::Tensor all = at::empty({sum, columns}, options);
  std::vector<at::Tensor> matrices;
  int64_t row = 0;
  for (const int64_t count : rows) {
    // Not a view to autograd, so each can be a parameter.
    matrices.push_back(all.narrow(0, row, count).variable_data());
    row += count;
  }
  return matrices;
}

at::Tensor LinearProduct(const at::Tensor& x, const at::Tensor& weight,
                         const at::Tensor& bias) {
  const at::ScalarType dtype = ProductType(weight.scalar_type(), x.device());
  const ProductLibrary library =
      LibraryOf(x.device(), dtype, x.numel() / x.size(-1), weight.size(0),
                weight.size(1));
  if (library == ProductLibrary::kMkl) return at::linear(x, weight, bias);
  return bias.defined() ? JoinedProduct(x, {weight}, {bias})
                        : JoinedProduct(x, {weight});
}

at::Tensor JoinedProduct(const at::Tensor& x, at::TensorList weights,
                         at::TensorList biases) {
  const ProfiledOperator scope("trainbench::joined_product");
  return JoinedProductFunction::apply(x, weights, biases);
}

}  // namespace trainbench
