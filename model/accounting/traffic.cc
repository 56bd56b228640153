// SPDX-License-Identifier: MIT

#include "model/accounting/traffic.h"

#include "model/accounting/parameters.h"

namespace trainbench {

double OptimizerBytes(const MemoryQuery& query) {
  return 7.0 * static_cast<double>(EstimateMemory(query).parameter_bytes);
}

double StepBytes(const MemoryQuery& query) {
  const MemoryEstimate memory = EstimateMemory(query);
  const auto parameters = static_cast<double>(memory.parameter_bytes);
  const auto saved = static_cast<double>(memory.saved_bytes);
  const auto logits = static_cast<double>(memory.logit_bytes);
  double bytes = parameters + saved + logits;
  if (memory.gradient_bytes > 0) {
    bytes += parameters + saved + static_cast<double>(memory.gradient_bytes);
    const ModelConfig& m = query.config;
    if (m.checkpointing.kind == Checkpointing::Kind::kBlocks) {
      const int64_t blocks =
          m.layers * (BlockMatrixParameters(m) + 2 * m.d_model);
      bytes += parameters / static_cast<double>(ParameterCount(m)) *
               static_cast<double>(blocks);
    }
  }
  if (query.mode == StepMode::kTrainStep) bytes += OptimizerBytes(query);
  return bytes;
}

}  // namespace trainbench
