// SPDX-License-Identifier: MIT

#include "model/accounting/traffic.h"

#include <algorithm>

#include "model/accounting/number.h"
#include "model/accounting/parameters.h"

namespace trainbench {
namespace {

// Bytes of so many rows of the tables that only the input's embedding reads:
// token embeddings, unless the head multiplies with them, and positions.
double InputTableBytes(const StepParams& step, int64_t tokens,
                       int64_t positions) {
  const int64_t rows = (step.model.tied_embeddings ? 0 : tokens) + positions;
  return Number(WeightBytes(step.precision) * step.model.d_model * rows);
}

}  // namespace

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
  const double tables = InputTableBytes(step, m.vocab, m.context);
  const double rows =
      InputTableBytes(step, std::min(m.vocab, step.batch * step.seq),
                      std::min(m.context, step.seq));
  const double saved = Number(saved_bytes);
  double bytes = parameters - tables + rows + saved + Number(LogitBytes(step));
  if (step.has_backward()) {
    bytes += parameters - tables + saved + parameters;
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
