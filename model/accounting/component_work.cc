// SPDX-License-Identifier: MIT

#include "model/accounting/component_work.h"

#include "model/accounting/flops.h"
#include "model/accounting/number.h"
#include "model/accounting/parameters.h"
#include "model/accounting/traffic.h"

namespace trainbench {
namespace {

struct Forward {
  const char* name;
  int64_t matrix_elements;  // used once per token
  double other_flops;
  int64_t parameters;
  int64_t saved_bytes;
  int64_t output_bytes;  // written beside them
  bool is_recomputed = false;
};

std::vector<Forward> ForwardWork(const StepParams& step,
                                 const SavedBytes& saved) {
  const ModelConfig& m = step.model;
  const int64_t ffn = 3 * m.d_model * m.d_ff;
  const int64_t attention = BlockMatrixParameters(m) - ffn;
  const int64_t head = m.vocab * m.d_model;
  const bool again = m.checkpointing.kind == Checkpointing::Kind::kBlocks;
  return {
      {"embedding", 0, 0, head, 0, 0},
      {"attention", m.layers * attention,
       Number(m.layers) * LayerAttentionFlops(m, step.batch, step.seq),
       m.layers * (attention + m.d_model), saved.attention, 0, again},
      {"ffn", m.layers * ffn, 0, m.layers * (ffn + m.d_model), saved.ffn, 0,
       again},
      {"head", head, 0, head + m.d_model, saved.head, LogitBytes(step)},
  };
}

}  // namespace

std::vector<ComponentWork> StepComponents(const StepParams& step,
                                          const SavedBytes& saved) {
  const bool backward = step.has_backward();
  const double width = Number(ParameterBytes(step.model, step.precision)) /
                       Number(ParameterCount(step.model));
  const double tokens = Number(step.batch * step.seq);
  std::vector<ComponentWork> work;
  for (const Forward& part : ForwardWork(step, saved)) {
    const double flops =
        2 * tokens * Number(part.matrix_elements) + part.other_flops;
    const double parameters = width * Number(part.parameters);
    const double forward = parameters + Number(part.saved_bytes);
    // The backward pass reads both again and writes the gradients.
    double backward_bytes = backward ? forward + parameters : 0;
    if (backward && part.is_recomputed) backward_bytes += parameters;
    work.push_back({part.name, backward ? 3 * flops : flops,
                    forward + Number(part.output_bytes) + backward_bytes});
  }
  if (step.mode == StepMode::kTrainStep) {
    work.push_back(
        {"optimizer", 0, OptimizerBytes(step.model, step.precision)});
  }
  return work;
}

}  // namespace trainbench
