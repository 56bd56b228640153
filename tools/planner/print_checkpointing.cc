// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "fixtures/reporters/human_units.h"
#include "tools/planner/layout.h"
#include "tools/planner/print.h"

namespace trainbench {
namespace {

constexpr absl::string_view kCheckpointNotes =
    "longer and larger compare with the model's first line; at an unchanged "
    "rate of the "
    "hardware (HFU) the step takes longer by the last column.\n";

// What each choice of `query` buys, and what it costs; `rows` are those of one
// precision and mode. Each model's first choice is what the others are compared
// with.
std::string CheckpointTable(const ModelQuery& query,
                            const std::vector<ModelRow>& rows) {
  const std::size_t models = query.models.size();
  std::vector<Cells> lines = {{"model", "checkpoint", "saved", "peak", "fits",
                               "max seq", "longer", "max batch", "larger",
                               "TFLOP again", "of the step"}};
  const auto factor = [](int64_t value, int64_t first) {
    return first == 0 ? "-"
                      : absl::StrFormat("%.2f", static_cast<double>(value) /
                                                    static_cast<double>(first));
  };
  for (std::size_t model = 0; model < models; ++model) {
    const ModelRow& first = rows[model];
    for (std::size_t i = model; i < rows.size(); i += models) {
      const ModelRow& row = rows[i];
      lines.push_back(
          {row.step.model.name, CheckpointingName(row.step.model.checkpointing),
           Bytes(row.memory.saved_bytes), Bytes(row.memory.peak_bytes),
           row.fits ? "yes" : "no", absl::StrCat(row.largest_seq),
           factor(row.largest_seq, first.largest_seq),
           absl::StrCat(row.largest_batch),
           factor(row.largest_batch, first.largest_batch),
           Teraflop(row.recomputed_flops),
           HumanPercent(row.recomputed_flops / row.flops)});
    }
  }
  return absl::StrCat("\ncheckpointing, ",
                      PrecisionName(rows[0].step.precision), " ",
                      StepModeName(rows[0].step.mode), "\n", Table(lines));
}

}  // namespace

std::string CheckpointTables(const ModelQuery& query,
                             const std::vector<ModelRow>& rows) {
  if (query.checkpointing.empty()) return "";
  std::string out;
  const std::size_t size = query.models.size() * query.checkpointing.size();
  for (auto first = rows.begin(); first != rows.end();
       first += static_cast<std::ptrdiff_t>(size)) {
    absl::StrAppend(
        &out, CheckpointTable(
                  query, {first, first + static_cast<std::ptrdiff_t>(size)}));
  }
  return absl::StrCat(out, kCheckpointNotes);
}

}  // namespace trainbench
