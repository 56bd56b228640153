// SPDX-License-Identifier: MIT
// Reports a step's operators, and the arithmetic that LibTorch was asked to use
// for its matrix products. Works on any device and leaves nothing behind that
// slows later calls. Only a profile shows which kernels a GPU ran for them.

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
  std::map<c10::ScalarType, int> by_type;  // operand dtype to count
  std::set<std::string> operators;         // all that ran, e.g. "aten::bmm"
  std::set<std::string> fused_attention;   // fused attention's
  // Products of fp32 may be computed with reduced precision.
  bool tf32 = false;
};

// Records what `work` runs on this thread. Rethrows exceptions.
Products ProductsOf(const std::function<void()>& work);

// FailedPrecondition if the products do not match the precision: fp32 and tf32
// multiply only fp32, tf32 with reduced precision allowed; both kinds of bf16
// multiply bf16 and may run some products in fp32.
absl::Status ProveProducts(const Products& products, Precision precision);

// Records the products of a forward pass.
Products ForwardProducts(TransformerLm& model, const Batch& batch,
                         Precision precision);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_VERIFICATION_PRODUCTS_H_
