// SPDX-License-Identifier: MIT

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/accounting/traffic.h"
#include "tools/planner/plan.h"

namespace trainbench {
namespace {

ModelRow PlanModel(const MemoryQuery& job, const ModelQuery& query) {
  ModelRow row;
  row.model = job.config;
  row.precision = job.precision;
  row.mode = job.mode;
  row.params = ParameterCount(job.config);
  row.parameters = ParametersByComponent(job.config);
  row.memory = EstimateMemory(job);
  if (job.mode != StepMode::kInference) {
    row.saved_bytes_per_block = SavedBytesPerBlock(job);
  }
  row.saved = SavedComponents(job);
  row.block_tensors = SavedTensorsOfBlock(job);
  row.largest_tensor = LargestTensor(job);
  row.flops = StepFlops(job.config, job.batch, job.seq, job.mode);
  row.recomputed_flops =
      RecomputedFlops(job.config, job.batch, job.seq, job.mode);
  row.component_flops =
      FlopsByComponent(job.config, job.batch, job.seq, job.mode);
  if (job.mode == StepMode::kTrainStep) {
    row.adamw_flops = AdamWFlops(job.config);
  }
  row.bytes = StepBytes(job);
  row.fits = row.memory.peak.bytes <= query.device_memory_bytes;
  row.largest_seq = LargestSeq(job, query.device_memory_bytes);
  row.largest_batch = LargestBatch(job, query.device_memory_bytes);
  if (query.training) {
    row.training = TimeTraining(*query.training, job, row.flops);
  }
  return row;
}

absl::Status TooLarge(const MemoryQuery& job) {
  return absl::InvalidArgumentError(absl::StrCat(
      "model '", job.config.name, "' at batch ", job.batch, " and seq ",
      job.seq,
      " has too many bytes to count; allowed: a smaller model, batch or seq"));
}

// Each choice with all models, which vary fastest.
std::vector<ModelConfig> ModelsOf(const ModelQuery& query) {
  if (query.checkpointing.empty()) return query.models;
  std::vector<ModelConfig> models;
  for (const Checkpointing& checkpointing : query.checkpointing) {
    for (ModelConfig model : query.models) {
      model.checkpointing = checkpointing;
      models.push_back(std::move(model));
    }
  }
  return models;
}

}  // namespace

absl::StatusOr<std::vector<ModelRow>> PlanModels(const ModelQuery& query) {
  std::vector<ModelRow> rows;
  const std::vector<ModelConfig> models = ModelsOf(query);
  for (Precision precision : query.precisions) {
    for (StepMode mode : query.modes) {
      for (const ModelConfig& model : models) {
        const MemoryQuery job{.config = model,
                              .batch = query.batch,
                              .seq = query.seq,
                              .precision = precision,
                              .mode = mode};
        if (!IsCountable(job)) return TooLarge(job);
        rows.push_back(PlanModel(job, query));
      }
    }
  }
  return rows;
}

}  // namespace trainbench
