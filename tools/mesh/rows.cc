// SPDX-License-Identifier: MIT

#include "tools/mesh/rows.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "reports/live/human_units.h"

namespace trainbench {
namespace {

double Number(int64_t value) { return static_cast<double>(value); }

std::string WhyNot(const MeshMemory& memory, int64_t budget_bytes) {
  if (memory.needed_bytes <= budget_bytes) return "";
  const FullShardingMemory& step = memory.step;
  const std::string needs =
      absl::StrCat("needs ", HumanBytes(Number(memory.needed_bytes)), " of ",
                   HumanBytes(Number(budget_bytes)), ": ");
  if (memory.build_bytes > step.peak.bytes) {
    return absl::StrCat(needs, "its part is whole before it is sharded");
  }
  const int64_t resident = step.resident_bytes();
  return absl::StrCat(needs, "shards and AdamW have ",
                      HumanBytes(Number(resident)), ", a step ",
                      HumanBytes(Number(step.peak.bytes - resident)),
                      " more at ", step.peak.name);
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

MeshRow RowOf(const MeshJob& job, const MeshMachine& machine,
              int64_t budget_bytes) {
  MeshRow row;
  row.job = job;
  row.is_valid = true;
  row.memory = MemoryOf(job);
  row.why_not = WhyNot(row.memory, budget_bytes);
  row.traffic = TrafficOf(job).Step();
  row.flops = FlopsOf(job);
  row.time = TimeOf(job, machine);
  row.largest_batch = LargestBatch(job, budget_bytes);
  row.compute_bound_batch = ComputeBoundBatch(job, machine);
  return row;
}

bool IsBetter(const MeshRow& a, const MeshRow& b) {
  const bool a_fits = a.why_not.empty(), b_fits = b.why_not.empty();
  if (a_fits != b_fits) return a_fits;
  if (a_fits) return TokensPerSecond(a) > TokensPerSecond(b);
  if (a.is_valid != b.is_valid) return a.is_valid;
  return a.memory.needed_bytes < b.memory.needed_bytes;
}

// With the checkpointing that is best.
MeshRow BestRow(const MeshQuery& query, const MeshShape& mesh,
                int64_t budget_bytes) {
  MeshRow best;
  best.job.mesh = mesh;
  auto job = OnMesh(query, mesh);
  if (!job.ok()) {
    best.why_not = std::string(job.status().message());
    return best;
  }
  for (const Checkpointing& checkpointing : query.checkpointing) {
    job->model.checkpointing = checkpointing;
    MeshRow row = RowOf(*job, query.machine, budget_bytes);
    if (!best.is_valid || IsBetter(row, best)) best = std::move(row);
  }
  return best;
}

}  // namespace

double TokensPerSecond(const MeshRow& row) {
  const MeshJob& job = row.job;
  return Number(job.batch * job.seq * job.mesh.batches()) /
         (row.time.step_us() / 1e6);
}

std::vector<MeshRow> RowsOf(const MeshQuery& query, int64_t budget_bytes) {
  if (query.mesh) return {BestRow(query, *query.mesh, budget_bytes)};
  std::vector<MeshRow> all;
  for (const int64_t ranks : query.ranks) {
    std::vector<MeshRow> rows;
    for (const MeshShape& mesh : MeshesOf(ranks)) {
      rows.push_back(BestRow(query, mesh, budget_bytes));
    }
    std::stable_sort(rows.begin(), rows.end(), IsBetter);
    if (query.ranks.size() > 1) rows.resize(1);
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  return all;
}

void RehearseBest(const Device& device, int64_t budget_bytes,
                  std::vector<MeshRow>& rows) {
  for (MeshRow& row : rows) {
    const bool is_first = &row == &rows.front();
    if (!row.is_valid || (!is_first && !row.why_not.empty())) break;
    row.rehearsal = RehearseRank(row.job, device);
    row.why_not = WhyNot(*row.rehearsal, budget_bytes);
    if (row.why_not.empty()) break;
  }
  std::stable_partition(rows.begin(), rows.end(),
                        [](const MeshRow& row) { return row.why_not.empty(); });
}

}  // namespace trainbench
