// SPDX-License-Identifier: MIT

#include "model/distributed/tensor_parallel/tensor_traffic.h"

namespace trainbench {

TensorTraffic TensorTrafficOf(const StepParams& part, int64_t ranks,
                              bool backward) {
  if (ranks == 1) return {};
  const bool narrow = part.precision == Precision::kBf16;
  const bool autocast = part.precision == Precision::kBf16Autocast;
  const bool fused = part.model.implementation == Implementation::kFused;
  const int64_t stream = narrow ? 2 : 4;
  const int64_t operand = narrow || autocast ? 2 : 4;
  const int64_t normed = fused ? operand : stream;
  const int64_t tokens = part.batch * part.seq;
  const int64_t values = tokens * part.model.d_model;
  const int64_t sublayers = 2 * part.model.layers;
  TensorTraffic traffic = {
      .calls = 1 + sublayers + 2,
      .bytes = (stream + sublayers * operand) * values + 3 * 4 * tokens};
  if (backward) {
    traffic.calls += sublayers + 1;
    traffic.bytes += (sublayers + 1) * normed * values;
    if (part.model.checkpointing.kind == Checkpointing::Kind::kBlocks) {
      traffic.calls += sublayers;
      traffic.bytes += sublayers * operand * values;
    }
  }
  return traffic;
}

}  // namespace trainbench
