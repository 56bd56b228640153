// SPDX-License-Identifier: MIT

#include "model/accounting/flops.h"

#include "model/accounting/parameters.h"

namespace trainbench {

double LayerAttentionFlops(const ModelConfig& config, int64_t batch,
                           int64_t seq) {
  return 4 * static_cast<double>(batch * seq) * static_cast<double>(seq) *
         static_cast<double>(config.d_model);
}

double ForwardFlops(const ModelConfig& config, int64_t batch, int64_t seq) {
  // In double: exact up to 2^53, and a large sweep exceeds int64.
  const auto tokens = static_cast<double>(batch * seq);
  const auto d_model = static_cast<double>(config.d_model);
  const auto layers = static_cast<double>(config.layers);
  const double weights =
      layers * static_cast<double>(BlockMatrixParameters(config)) +
      static_cast<double>(config.vocab) * d_model;
  return 2 * tokens * weights +
         layers * LayerAttentionFlops(config, batch, seq);
}

double BackwardFlops(const ModelConfig& config, int64_t batch, int64_t seq) {
  return 2 * ForwardFlops(config, batch, seq);
}

double StepFlops(const ModelConfig& config, int64_t batch, int64_t seq,
                 StepMode mode) {
  const double forward = ForwardFlops(config, batch, seq);
  if (mode == StepMode::kInference || mode == StepMode::kForward) {
    return forward;
  }
  return forward + BackwardFlops(config, batch, seq);
}

}  // namespace trainbench
