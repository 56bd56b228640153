// SPDX-License-Identifier: MIT

#include "model/accounting/traffic.h"

#include "model/accounting/number.h"
#include "model/accounting/parameters.h"

namespace trainbench {

double OptimizerBytes(const ModelConfig& config, Precision precision) {
  return 7 * Number(ParameterBytes(config, precision));
}

int64_t ResidualBytes(const StepParams& step) {
  return WeightBytes(step.precision) * step.batch * step.seq *
         step.model.d_model;
}

int64_t LogitBytes(const StepParams& step) {
  return OperandBytes(step.precision) * step.batch * step.seq *
         step.model.vocab;
}

double StepBytes(const StepParams& step, int64_t saved_bytes) {
  const ModelConfig& m = step.model;
  const double parameters = Number(ParameterBytes(m, step.precision));
  const double saved = Number(saved_bytes);
  double bytes = parameters + saved + Number(LogitBytes(step));
  if (step.has_backward()) {
    bytes += 2 * parameters + saved;
    if (m.checkpointing.kind == Checkpointing::Kind::kBlocks) {
      bytes += parameters * Number(m.layers * BlockParameters(m)) /
               Number(ParameterCount(m));
    }
  }
  if (step.mode == StepMode::kTrainStep) {
    bytes += OptimizerBytes(m, step.precision);
  }
  return bytes;
}

}  // namespace trainbench
