// SPDX-License-Identifier: MIT

#include "model/distributed/tensor_parallel/tensor_traffic.h"

namespace trainbench {

Traffic TensorTrafficOf(const StepParams& part, int64_t ranks, bool backward) {
  if (ranks == 1) return {};
  const bool fused = part.model.implementation == Implementation::kFused;
  const int64_t stream = WeightBytes(part.precision);
  const int64_t operand = OperandBytes(part.precision);
  const int64_t normed = fused ? operand : stream;
  const int64_t tokens = part.tokens();
  const int64_t values = tokens * part.model.d_model;
  const int64_t sublayers = 2 * part.model.layers;
  constexpr auto kSum = CollectiveKind::kAllReduce;
  Traffic traffic;
  traffic.Add(kSum, stream * values);
  traffic.Add(kSum, sublayers * operand * values, sublayers);
  traffic.Add(kSum, 3 * 4 * tokens, 2);
  if (!backward) return traffic;
  traffic.Add(kSum, (sublayers + 1) * normed * values, sublayers + 1);
  if (part.model.checkpointing.kind == Checkpointing::Kind::kBlocks) {
    traffic.Add(kSum, sublayers * operand * values, sublayers);
  }
  return traffic;
}

}  // namespace trainbench
