// SPDX-License-Identifier: MIT
// In which arithmetic a step's matrix products run, as LibTorch was asked for
// them. Works on any device and leaves nothing behind that would slow later
// calls. Which kernels a GPU takes for it only a profile shows.

#ifndef TRAINBENCH_MODEL_VERIFICATION_PRODUCTS_H_
#define TRAINBENCH_MODEL_VERIFICATION_PRODUCTS_H_

#include <c10/core/ScalarType.h>

#include <functional>
#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "model/nn/transformer_lm.h"
#include "model/spec/precision.h"
#include "model/training/train_step.h"

namespace trainbench {

struct Products {
  std::map<c10::ScalarType, int> by_type;  // of the operands
  // The operators of fused attention.
  std::set<std::string> fused_attention;
  // Products of fp32 may be computed in fewer bits.
  bool tf32 = false;
};

// The products that `work` runs on this thread. Rethrows what `work` throws.
Products ProductsOf(const std::function<void()>& work);

// FailedPrecondition if the products are not those of the precision: fp32 and
// tf32 multiply fp32 alone, tf32 with fewer bits allowed; both kinds of bf16
// multiply bf16 and may leave some in fp32.
absl::Status ProveProducts(const Products& products, Precision precision);

// The products of a forward pass.
Products ForwardProducts(TransformerLm& model, const Batch& batch,
                         Precision precision);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_VERIFICATION_PRODUCTS_H_
