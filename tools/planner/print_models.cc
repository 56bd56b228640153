// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "fixtures/reporters/human_units.h"
#include "tools/planner/layout.h"
#include "tools/planner/print.h"

namespace trainbench {
namespace {

constexpr absl::string_view kModelNotes =
    "peak is the maximum over a step, found by a dry run of it, not the sum of "
    "the columns before it: they are not all alive at once.\n"
    "TFLOP counts matmuls only, AdamW's operations are beside it; moved is the "
    "least traffic with device memory; all are per step.\n"
    "saved is what the forward pass keeps for the backward pass; max seq is "
    "the longest that fits at this batch, up to 1048576.\n"
    "residual is one tensor of the residual stream, logits the largest of the "
    "last product, each once.\n"
    "Predictions count tensors: leave room for the device's context, library "
    "workspaces and fragmentation.\n";

// "45.0 s", "3.2 h", "12.5 days".
std::string Duration(double seconds) {
  if (seconds < 120) return HumanTime(seconds * 1e6);
  if (seconds < 2 * 3600) return absl::StrFormat("%.1f min", seconds / 60);
  if (seconds < 2 * 86400) return absl::StrFormat("%.1f h", seconds / 3600);
  return absl::StrCat(HumanCount(seconds / 86400), " days");
}

Cells ModelCells(const ModelRow& row) {
  const StepMemory& memory = row.memory;
  return {row.step.model.name,           WithThousands(row.params),
          Bytes(memory.parameter_bytes), Bytes(memory.gradient_bytes),
          Bytes(memory.optimizer_bytes), Bytes(memory.saved_bytes),
          Bytes(memory.block_bytes),     Bytes(memory.peak_bytes),
          row.fits ? "yes" : "no",       absl::StrCat(row.largest_seq),
          Teraflop(row.flops),           HumanBytes(row.bytes)};
}

Cells ModelHead() {
  return {"model",     "parameters", "weights",   "gradients",
          "optimizer", "saved",      "per block", "peak",
          "fits",      "max seq",    "TFLOP",     "moved"};
}

Cells TensorCells(const ModelRow& row) {
  const StepMemory& memory = row.memory;
  const LargeTensor& largest = memory.largest;
  return {row.step.model.name, Bytes(memory.residual_bytes),
          Bytes(memory.logit_bytes), Bytes(largest.bytes),
          absl::StrCat(largest.name, ", ", ComponentName(largest.component))};
}

// The highest points of the phases, which all `rows` have.
std::string PhaseTable(const std::vector<ModelRow>& rows) {
  std::vector<Cells> table(1, {"model"});
  for (const HighestPoint& point : rows[0].memory.highest) {
    table[0].push_back(Text(PhaseName(point.phase)));
  }
  table[0].emplace_back("peak at");
  for (const ModelRow& row : rows) {
    Cells cells = {row.step.model.name};
    for (const HighestPoint& point : row.memory.highest) {
      cells.push_back(Bytes(point.bytes));
    }
    cells.push_back(row.memory.peak_at);
    table.push_back(std::move(cells));
  }
  return Table(table, true);
}

Cells TrainingCells(const ModelRow& row) {
  const TrainingTime& time = *row.training;
  const bool known = time.seconds.has_value();
  return {row.step.model.name,
          HumanCount(time.steps),
          known ? Duration(*time.seconds) : "-",
          known ? HumanRate(time.flops_per_second, "FLOP/s") : "-",
          time.mfu ? HumanPercent(*time.mfu) : "-",
          time.basis};
}

// One line for each row, one column for each component that a row has.
using Values = std::map<Component, std::string>;
std::string ByComponent(const std::vector<ModelRow>& rows,
                        const std::function<Values(const ModelRow&)>& values) {
  std::vector<Values> lines;
  Values all;
  for (const ModelRow& row : rows) {
    lines.push_back(values(row));
    all.insert(lines.back().begin(), lines.back().end());
  }
  std::vector<Cells> table(1, {"model"});
  for (const auto& [component, unused] : all) {
    table[0].push_back(Text(ComponentName(component)));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Cells cells = {rows[i].step.model.name};
    for (const auto& [component, unused] : all) {
      const auto found = lines[i].find(component);
      cells.push_back(found == lines[i].end() ? "-" : found->second);
    }
    table.push_back(std::move(cells));
  }
  return Table(table);
}

Values ParameterValues(const ModelRow& row) {
  Values values;
  for (const auto& [component, elements] : row.parameters) {
    values[component] = WithThousands(elements);
  }
  return values;
}

Values SavedValues(const ModelRow& row) {
  Values values;
  for (const auto& [component, bytes] : row.memory.saved) {
    values[component] = Bytes(bytes);
  }
  return values;
}

Values FlopValues(const ModelRow& row) {
  Values values;
  for (const auto& [component, flops] : row.component_flops) {
    values[component] = Teraflop(flops);
  }
  if (row.adamw_flops > 0) {
    values[Component::kOptimizer] = Teraflop(row.adamw_flops);
  }
  return values;
}

std::string BlockTable(const ModelRow& row) {
  std::vector<Cells> lines = {
      {"operator", "bytes", "shape", "dtype and component"}};
  for (const RecordedBlock& block : row.memory.block_tensors) {
    lines.push_back(
        {block.op, Bytes(block.bytes), block.shape,
         absl::StrCat(block.dtype, " ", ComponentName(ComponentOf(block)))});
  }
  return Table(lines, true);
}

// The tables of one precision and mode, whose rows these are.
std::string Details(const std::vector<ModelRow>& rows) {
  std::vector<Cells> tensors = {
      {"model", "residual", "logits", "largest", "largest tensor"}};
  std::vector<Cells> times = {{"model", "steps", "time", "rate", "MFU", "at"}};
  for (const ModelRow& row : rows) {
    tensors.push_back(TensorCells(row));
    if (row.training) times.push_back(TrainingCells(row));
  }
  std::string out =
      absl::StrCat("\nhighest point of each phase\n", PhaseTable(rows),
                   "\nsingle tensors\n", Table(tensors, true),
                   "\nTFLOP by component\n", ByComponent(rows, FlopValues));
  if (rows.front().step.mode != StepMode::kInference) {
    absl::StrAppend(&out, "\nsaved for the backward pass\n",
                    ByComponent(rows, SavedValues));
    // Of one model there is room for all of it.
    if (rows.size() == 1) {
      absl::StrAppend(&out, "\nsaved by one block\n", BlockTable(rows[0]));
    }
  }
  if (times.size() > 1) {
    absl::StrAppend(&out, "\ntraining\n", Table(times, true));
  }
  return out;
}

}  // namespace

std::string ModelText(const ModelQuery& query,
                      const std::vector<ModelRow>& rows) {
  std::vector<Cells> lines = {ModelHead()};
  for (const ModelRow& row : rows) lines.push_back(ModelCells(row));
  // The same widths in all tables make them easy to compare.
  const std::vector<int> widths = Widths(lines);

  std::string out =
      absl::StrCat("batch ", query.batch, ", seq ", query.seq,
                   ", device memory ", Bytes(query.device_memory_bytes));
  if (query.training) {
    absl::StrAppend(&out, ", training on ",
                    WithThousands(query.training->tokens), " tokens");
  }
  absl::StrAppend(&out, "\n");
  const std::size_t models = query.models.size();
  for (std::size_t first = 0; first < rows.size(); first += models) {
    const std::vector<ModelRow> group(rows.begin() + first,
                                      rows.begin() + first + models);
    absl::StrAppend(&out, "\n", PrecisionName(group[0].step.precision), " ",
                    StepModeName(group[0].step.mode));
    if (!query.checkpointing.empty()) {
      absl::StrAppend(&out, ", checkpoint ",
                      CheckpointingName(group[0].step.model.checkpointing));
    }
    absl::StrAppend(&out, "\n", Line(lines[0], widths, true));
    for (std::size_t i = first; i < first + models; ++i) {
      absl::StrAppend(&out, Line(lines[i + 1], widths, true));
    }
    absl::StrAppend(&out, Details(group));
  }
  // They depend on neither precision nor mode.
  absl::StrAppend(
      &out, "\nparameters by component\n",
      ByComponent({rows.begin(), rows.begin() + models}, ParameterValues),
      CheckpointTables(query, rows), "\n", kModelNotes);
  return out;
}

}  // namespace trainbench
