// SPDX-License-Identifier: MIT

#include "tools/planner/mesh/rows.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "fixtures/reporters/human_units.h"
#include "model/accounting/number.h"
#include "model/spec/status_macros.h"

namespace trainbench {
namespace {

std::string WhyNot(const RankMemory& memory, int64_t budget_bytes) {
  if (memory.needed_bytes() <= budget_bytes) return "";
  const std::string needs =
      absl::StrCat("needs ", HumanBytes(Number(memory.needed_bytes())), " of ",
                   HumanBytes(Number(budget_bytes)), ": ");
  if (memory.build_peak_bytes > memory.step_peak_bytes) {
    return absl::StrCat(
        needs, "the build allocates the rank's part before it shards it");
  }
  const int64_t resident = memory.resident_bytes;
  return absl::StrCat(needs, "shards and AdamW take ",
                      HumanBytes(Number(resident)), ", a step ",
                      HumanBytes(Number(memory.step_peak_bytes - resident)),
                      " more at ", memory.peak_at,
                      "; largest tensors: ", memory.largest_at_peak);
}

std::string WhyNot(const MeshRehearsal& found, int64_t budget_bytes) {
  if (found.out_of_memory) {
    return absl::StrCat("memory ends in ", found.ended_in);
  }
  const int64_t bytes = found.step_peak_bytes + found.library_bytes;
  if (bytes <= budget_bytes) return "";
  return absl::StrCat("takes ", HumanBytes(Number(bytes)), " of ",
                      HumanBytes(Number(budget_bytes)));
}

// If many meshes are tried, ranks with too large shards are not built.
bool IsTooLarge(const MeshQuery& query, int64_t budget_bytes, MeshRow& row) {
  const int64_t state = kStateBytes * ShardElements(row.job);
  if (query.mesh || state <= budget_bytes) return false;
  row.needed_bytes = state;
  row.why_not = absl::StrCat("needs more than ", HumanBytes(Number(state)),
                             " for its shards and AdamW, of ",
                             HumanBytes(Number(budget_bytes)));
  return true;
}

// Changes nothing if a dry run fails.
absl::Status AddPrediction(const MeshQuery& query, RankPredictor& predictor,
                           int64_t budget_bytes, MeshRow& row) {
  ASSIGN_OR_RETURN(auto memory, predictor.Predict(row.job));
  ASSIGN_OR_RETURN(const auto work, predictor.Work(row.job));
  row.needed_bytes = memory.needed_bytes();
  row.why_not = WhyNot(memory, budget_bytes);
  row.memory = std::move(memory);
  row.time = TimeOf(row.job, work, query.machine);
  row.compute_bound_batch = ComputeBoundBatch(row.job, work, query.machine);
  return absl::OkStatus();
}

MeshRow RowOf(const MeshQuery& query, const MeshJob& job,
              RankPredictor& predictor, int64_t budget_bytes) {
  MeshRow row;
  row.job = job;
  row.is_valid = true;
  if (IsTooLarge(query, budget_bytes, row)) return row;
  const absl::Status status =
      AddPrediction(query, predictor, budget_bytes, row);
  if (!status.ok()) row.why_not = std::string(status.message());
  return row;
}

bool IsBetter(const MeshRow& a, const MeshRow& b) {
  const bool a_fits = a.why_not.empty(), b_fits = b.why_not.empty();
  if (a_fits != b_fits) return a_fits;
  if (a_fits) return TokensPerSecond(a) > TokensPerSecond(b);
  if (a.is_valid != b.is_valid) return a.is_valid;
  return a.needed_bytes < b.needed_bytes;
}

// Returns the mesh's row with the best checkpointing.
MeshRow BestRow(const MeshQuery& query, const MeshShape& mesh,
                RankPredictor& predictor, int64_t budget_bytes) {
  MeshRow best;
  best.job.mesh = mesh;
  auto job = OnMesh(query, mesh);
  if (!job.ok()) {
    best.why_not = std::string(job.status().message());
    return best;
  }
  for (const Checkpointing& checkpointing : query.checkpointing) {
    job->model.checkpointing = checkpointing;
    MeshRow row = RowOf(query, *job, predictor, budget_bytes);
    if (!best.is_valid || IsBetter(row, best)) best = std::move(row);
  }
  if (best.memory) {
    best.largest_batch = predictor.LargestBatch(best.job, budget_bytes);
  }
  return best;
}

// Dry-runs this rank itself, because its shards may be the largest tensors.
void SayWhyNot(const Device& device, int64_t budget_bytes, MeshRow& row) {
  if (!row.memory || row.why_not.empty()) return;
  const auto own = PredictRank(row.job, device);
  if (own.ok()) row.why_not = WhyNot(*own, budget_bytes);
}

}  // namespace

double TokensPerSecond(const MeshRow& row) {
  const MeshJob& job = row.job;
  return Number(job.batch * job.seq * job.mesh.batches()) /
         (row.time.step_us() / 1e6);
}

std::vector<MeshRow> RowsOf(const MeshQuery& query, const Device& device,
                            int64_t budget_bytes) {
  RankPredictor predictor(device);
  if (query.mesh) return {BestRow(query, *query.mesh, predictor, budget_bytes)};
  std::vector<MeshRow> all;
  for (const int64_t ranks : query.ranks) {
    std::vector<MeshRow> rows;
    for (const MeshShape& mesh : MeshesOf(ranks)) {
      rows.push_back(BestRow(query, mesh, predictor, budget_bytes));
    }
    std::stable_sort(rows.begin(), rows.end(), IsBetter);
    if (query.ranks.size() > 1) rows.resize(1);
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  for (MeshRow& row : all) SayWhyNot(device, budget_bytes, row);
  return all;
}

void RehearseBest(const Device& device, int64_t budget_bytes,
                  std::vector<MeshRow>& rows) {
  for (MeshRow& row : rows) {
    const bool is_first = &row == &rows.front();
    if (!row.memory || (!is_first && !row.why_not.empty())) break;
    row.rehearsal = RehearseRank(row.job, device);
    row.why_not = WhyNot(*row.rehearsal, budget_bytes);
    if (row.why_not.empty()) break;
  }
  std::stable_partition(rows.begin(), rows.end(),
                        [](const MeshRow& row) { return row.why_not.empty(); });
}

}  // namespace trainbench
