// SPDX-License-Identifier: MIT

#include "tools/planner/rows.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/accounting/flops.h"
#include "model/accounting/parameters.h"
#include "model/accounting/traffic.h"

namespace trainbench {
namespace {

PlanRow ComputeRow(const MemoryQuery& query, int64_t budget_bytes) {
  PlanRow row;
  row.model = query.config;
  row.precision = query.precision;
  row.mode = query.mode;
  row.params = ParameterCount(query.config);
  row.memory = EstimateMemory(query);
  if (query.mode != StepMode::kInference) {
    row.saved_bytes_per_block = SavedBytesPerBlock(query);
  }
  row.flops = StepFlops(query.config, query.batch, query.seq, query.mode);
  row.bytes = StepBytes(query);
  row.fits = row.memory.peak.bytes <= budget_bytes;
  row.largest_seq = LargestSeq(query, budget_bytes);
  return row;
}

absl::Status TooLarge(const MemoryQuery& query) {
  return absl::InvalidArgumentError(absl::StrCat(
      "model '", query.config.name, "' at batch ", query.batch, " and seq ",
      query.seq,
      " has too many bytes to count; allowed: a smaller model, batch or seq"));
}

}  // namespace

absl::StatusOr<std::vector<PlanRow>> ComputePlan(const PlanQuery& query) {
  std::vector<PlanRow> rows;
  for (Precision precision : query.precisions) {
    for (StepMode mode : query.modes) {
      for (const ModelConfig& model : query.models) {
        const MemoryQuery job{.config = model,
                              .batch = query.batch,
                              .seq = query.seq,
                              .precision = precision,
                              .mode = mode};
        if (!IsCountable(job)) return TooLarge(job);
        rows.push_back(ComputeRow(job, query.device_memory_bytes));
      }
    }
  }
  return rows;
}

}  // namespace trainbench
