// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "reports/live/human_units.h"
#include "tools/planner/layout.h"
#include "tools/planner/print.h"

namespace trainbench {
namespace {

constexpr absl::string_view kModelNotes =
    "peak is a maximum over the moments of a step, not the sum of the columns "
    "before it: they are not all alive at once.\n"
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

// "softmax backward of the last block" is too wide for the table.
std::string ShortPeakName(const std::string& name) {
  return absl::StrReplaceAll(name,
                             {{" backward of the last block", " bwd (last)"},
                              {" backward of the first block", " bwd (first)"},
                              {" of the last block", " (last)"},
                              {"feed-forward matmul", "ff matmul"}});
}

Cells ModelCells(const ModelRow& row) {
  const MemoryEstimate& memory = row.memory;
  return {row.model.name,
          WithThousands(row.params),
          Bytes(memory.parameter_bytes),
          Bytes(memory.gradient_bytes),
          Bytes(memory.optimizer_bytes),
          Bytes(memory.saved_bytes),
          Bytes(row.saved_bytes_per_block),
          Bytes(memory.peak.bytes),
          row.fits ? "yes" : "no",
          absl::StrCat(row.largest_seq),
          Teraflop(row.flops),
          HumanBytes(row.bytes),
          ShortPeakName(memory.peak.name)};
}

Cells ModelHead() {
  return {"model", "parameters", "weights", "gradients", "optimizer",
          "saved", "per block",  "peak",    "fits",      "max seq",
          "TFLOP", "moved",      "peak at"};
}

Cells TensorCells(const ModelRow& row) {
  const LargeTensor& largest = row.largest_tensor;
  return {row.model.name, Bytes(row.memory.residual_bytes),
          Bytes(row.memory.logit_bytes), Bytes(largest.bytes), largest.name};
}

Cells TrainingCells(const ModelRow& row) {
  const TrainingTime& time = *row.training;
  const bool known = time.seconds.has_value();
  return {row.model.name,
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
    Cells cells = {rows[i].model.name};
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
  for (const SavedByComponent& part : row.saved) {
    values[part.component] = std::string(absl::StripTrailingAsciiWhitespace(
        HumanRate(static_cast<double>(part.elements), "")));
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
      {"tensor", "elements", "bytes", "dtype and formula"}};
  for (const SavedTensor& tensor : row.block_tensors) {
    lines.push_back({tensor.name, WithThousands(tensor.elements),
                     Bytes(tensor.bytes()),
                     absl::StrCat(tensor.dtype, " ", tensor.formula)});
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
      absl::StrCat("\nsingle tensors\n", Table(tensors, true),
                   "\nTFLOP by component\n", ByComponent(rows, FlopValues));
  if (rows.front().mode != StepMode::kInference) {
    absl::StrAppend(&out, "\nsaved for the backward pass, in elements\n",
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
    absl::StrAppend(&out, "\n", PrecisionName(group[0].precision), " ",
                    StepModeName(group[0].mode));
    if (!query.checkpointing.empty()) {
      absl::StrAppend(&out, ", checkpoint ",
                      CheckpointingName(group[0].model.checkpointing));
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
