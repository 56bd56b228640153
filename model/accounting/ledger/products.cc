// SPDX-License-Identifier: MIT
// Products of matrices.

#include <utility>

#include "model/accounting/ledger/step.h"

namespace trainbench::ledger {

using enum TensorType;

Tensor Linear::Forward(Step& s, const Tensor& x, bool wide,
                       const TensorName& result, const TensorSize& size) {
  Tensor copy, input = x;
  if (s.autocast) {
    copy = s.Make({"bf16 copy of ", name_}, matrix_, kBfloat16);
    if (s.caches_casts) s.casts.push_back(copy);
    widened_ = wide;
    if (wide) input = s.Make({"bf16 input of ", name_}, s.x, kBfloat16);
  }
  copy_ = s.Save(copy);
  x_ = s.Save(input);
  return s.Operands(result, size);
}

void GradientSum::Add(Step& s, Tensor term, bool is_view) {
  if (!sum) {
    sum = std::move(term);
    sum_is_view = is_view;
  } else if (sum_is_view) {
    sum = s.Operands("sum of gradients", s.x);
    sum_is_view = false;
  }
}

void Linear::Backward(Step& s, Tensor gradient, const TensorSize& size,
                      GradientSum& sum) {
  Tensor of_matrix = s.Operands({"gradient of ", name_}, matrix_);
  Tensor of_x = s.Operands({"gradient of the input of ", name_}, size);
  Free(gradient, copy_, x_);
  if (widened_) {
    of_x = s.Floats({"gradient of the input of ", name_}, size);
  }
  sum.Add(s, std::move(of_x), /*is_view=*/!widened_);
  if (s.autocast) {
    of_matrix = s.Floats({"gradient of ", name_}, matrix_);
  }
  s.Keep(std::move(of_matrix));
}

Tensor JoinedProduct::Forward(Step& s, const Tensor& x,
                              const TensorName& result,
                              const TensorSize& size) {
  const Tensor copy = s.autocast
                          ? s.Make({"bf16 copy of ", name_}, matrix_, kBfloat16)
                          : Tensor();
  copy_ = s.Save(copy);
  x_ = s.Save(x);
  return s.Operands(result, size);
}

Tensor JoinedProduct::Backward(Step& s, Tensor gradient) {
  Tensor of_x = s.Operands({"gradient of the input of ", name_}, s.x);
  Tensor of_matrix = s.Operands({"gradient of ", name_}, matrix_);
  if (s.autocast) {
    of_matrix = s.Floats({"gradient of ", name_}, matrix_);
  }
  Free(gradient, x_, copy_);
  s.Keep(std::move(of_matrix));
  return of_x;
}

}  // namespace trainbench::ledger
