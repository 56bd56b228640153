// SPDX-License-Identifier: MIT

#include "model/accounting/largest_tensor.h"

#include <algorithm>
#include <vector>

#include "model/accounting/attention_forms.h"

namespace trainbench {

LargeTensor LargestTensor(const MemoryQuery& query) {
  using enum Component;
  if (!IsCountable(query)) return {"beyond counting", kEmbedding, 0};
  const ModelConfig& m = query.config;
  const int64_t tokens = query.batch * query.seq;
  const bool bf16 = query.precision == Precision::kBf16;
  const bool autocast = query.precision == Precision::kBf16Autocast;
  const bool has_loss = query.mode == StepMode::kForwardBackward ||
                        query.mode == StepMode::kTrainStep;
  const int64_t parameter = bf16 ? 2 : 4, operand = bf16 || autocast ? 2 : 4;
  // Gradients and moments are as large as their parameters.
  std::vector<LargeTensor> tensors = {
      {"embedding", kEmbedding, parameter * m.vocab * m.d_model},
      {"logits", kLmHead, operand * tokens * m.vocab}};
  if (has_loss) {
    tensors.push_back({"fp32 logits", kCrossEntropy, 4 * tokens * m.vocab});
  }
  if (FormOf({.attention = m.attention}).keeps_scores()) {
    tensors.push_back(
        {"scores", VariantOf(m.attention).parts ? kSoftmax : kFusedAttention,
         4 * tokens * m.heads * query.seq});
  }
  tensors.push_back({"hidden layer", kFfn, operand * tokens * m.d_ff});
  tensors.push_back(
      {"feed-forward matrix", kFfn, parameter * m.d_model * m.d_ff});
  return *std::max_element(tensors.begin(), tensors.end(),
                           [](const LargeTensor& a, const LargeTensor& b) {
                             return a.bytes < b.bytes;
                           });
}

}  // namespace trainbench
