// SPDX-License-Identifier: MIT

#include "model/accounting/traffic.h"

#include <algorithm>

#include "model/accounting/number.h"
#include "model/accounting/parameters.h"

namespace trainbench {

double OptimizerBytes(const ModelConfig& config, Precision precision) {
  return 7 * Number(ParameterBytes(config, precision));
}

int64_t ResidualBytes(const StepParams& step) {
  return WeightBytes(step.precision) * step.tokens() * step.model.d_model;
}

int64_t LogitBytes(const StepParams& step) {
  return OperandBytes(step.precision) * step.tokens() * step.model.vocab;
}

double StepBytes(const StepParams& step, int64_t saved_bytes) {
  const ModelConfig& m = step.model;
  const auto bytes_of = [&](int64_t elements) {
    return Number(WeightBytes(step.precision) * elements);
  };
  const int64_t words = m.tied_embeddings ? 0 : m.vocab;  // the head's, if tied
  const int64_t tables = m.d_model * (words + m.context);
  const int64_t rows =
      std::min(words, step.tokens()) + std::min(m.context, step.seq);
  const int64_t all = ParameterCount(m);
  const double saved = Number(saved_bytes), others = bytes_of(all - tables);
  double bytes =
      others + bytes_of(m.d_model * rows) + saved + Number(LogitBytes(step));
  if (step.has_backward()) {
    bytes += others + saved + bytes_of(all);
    if (m.checkpointing.kind == Checkpointing::Kind::kBlocks) {
      bytes += bytes_of(m.layers * BlockParameters(m));
    }
  }
  if (step.mode == StepMode::kTrainStep) {
    bytes += OptimizerBytes(m, step.precision);
  }
  return bytes;
}

}  // namespace trainbench
