// SPDX-License-Identifier: MIT

#include "model/fused/flash.h"

#include <torch/types.h>

namespace trainbench {

FlashResult FlashResult::EmptyFor(const FlashInputs& inputs) {
  const at::Tensor& q = inputs.q;
  return {at::empty({q.size(0), q.size(2), q.size(1), q.size(3)}, q.options())
              .transpose(1, 2),
          at::empty({q.size(0), q.size(1), q.size(2)},
                    q.options().dtype(at::kFloat))};
}

FlashGradients FlashGradients::EmptyFor(const FlashInputs& inputs) {
  return {at::empty_like(inputs.q), at::empty_like(inputs.k),
          at::empty_like(inputs.v)};
}

}  // namespace trainbench
