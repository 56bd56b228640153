// SPDX-License-Identifier: MIT

#include "model/accounting/component_work.h"

#include "model/accounting/flops.h"
#include "model/accounting/number.h"
#include "model/accounting/parameters.h"
#include "model/accounting/saved_tensors.h"
#include "model/accounting/traffic.h"

namespace trainbench {
namespace {

bool RecomputesBlocks(const MemoryQuery& query) {
  return query.config.checkpointing.kind == Checkpointing::Kind::kBlocks;
}

struct Forward {
  const char* name;
  int64_t matrix_elements;  // used once per token
  double other_flops;
  int64_t parameters;
  int64_t saved_bytes;
  int64_t output_bytes;  // written beside them
  bool is_recomputed = false;
};

std::vector<Forward> ForwardWork(const MemoryQuery& query,
                                 const MemoryEstimate& memory) {
  const ModelConfig& m = query.config;
  const int64_t ffn = 3 * m.d_model * m.d_ff;
  const int64_t attention = BlockMatrixParameters(m) - ffn;
  const int64_t head = m.vocab * m.d_model;
  // Nothing is saved without a backward pass.
  const int64_t layers = memory.saved_bytes > 0 ? m.layers : 0;
  int64_t blocks_saved = layers > 0 ? memory.saved_bytes : 0;
  for (const SavedTensor& tensor : SavedTensorsOutsideBlocks(query)) {
    blocks_saved -= tensor.bytes();
  }
  // Where blocks are recomputed, the input of the norm before it is all.
  const int64_t attention_saved =
      RecomputesBlocks(query) ? blocks_saved
                              : layers * SavedAttentionBytesPerBlock(query);
  return {
      {"embedding", 0, 0, head, 0, 0},
      {"attention", m.layers * attention,
       Number(m.layers) * LayerAttentionFlops(m, query.batch, query.seq),
       m.layers * (attention + m.d_model), attention_saved, 0,
       RecomputesBlocks(query)},
      {"ffn", m.layers * ffn, 0, m.layers * (ffn + m.d_model),
       blocks_saved - attention_saved, 0, RecomputesBlocks(query)},
      {"head", head, 0, head + m.d_model, memory.saved_bytes - blocks_saved,
       memory.logit_bytes},
  };
}

}  // namespace

std::vector<ComponentWork> StepComponents(const MemoryQuery& query) {
  if (!IsCountable(query)) return {};
  const MemoryEstimate memory = EstimateMemory(query);
  const bool backward = memory.gradient_bytes > 0;
  const double width = Number(memory.parameter_bytes) /
                       Number(ParameterCount(query.config));  // of a parameter
  const double tokens = Number(query.batch * query.seq);
  std::vector<ComponentWork> work;
  for (const Forward& part : ForwardWork(query, memory)) {
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
  if (query.mode == StepMode::kTrainStep) {
    work.push_back({"optimizer", 0, OptimizerBytes(query)});
  }
  return work;
}

}  // namespace trainbench
