// SPDX-License-Identifier: MIT

#include "tools/planner/print.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "reports/live/human_units.h"

namespace trainbench {
namespace {

using Cells = std::vector<std::string>;
using Json = nlohmann::ordered_json;

constexpr absl::string_view kModelNotes =
    "peak is a maximum over the moments of a step, not the sum of the columns "
    "before it: they are not all alive at once.\n"
    "TFLOP counts matmuls only; moved is the least traffic with device memory; "
    "both are per step.\n"
    "saved is what the forward pass keeps for the backward pass; max seq is "
    "the longest that fits at this batch, up to 1048576.\n"
    "Predictions count tensors: leave room for the device's context, library "
    "workspaces and fragmentation.\n";

constexpr absl::string_view kParallelNotes =
    "GB is 10^9 bytes and GiB 2^30: a device of \"80 GB\" mostly has about 80 "
    "GiB, "
    "7 % more than 80 10^9 bytes.\n"
    "A pass is compute-bound while what it sends takes no longer than what it "
    "computes, the two at the same time.\n"
    "Bounds count matmuls and bytes, no cost of a call: a real job stops "
    "gaining earlier.\n"
    "A pipeline stage must keep gathered weights over the micro-batches of a "
    "step, or each of these has to be that large.\n";

// The width of each column; every line has as many cells as the first.
std::vector<int> Widths(const std::vector<Cells>& lines) {
  std::vector<int> widths(lines.front().size());
  for (const Cells& cells : lines) {
    for (size_t i = 0; i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], static_cast<int>(cells[i].size()));
    }
  }
  return widths;
}

// The first and the last column hold words, the others right-aligned numbers.
std::string ModelLine(const Cells& cells, const std::vector<int>& widths) {
  std::string line = absl::StrFormat("%-*s", widths[0], cells[0]);
  for (size_t i = 1; i + 1 < cells.size(); ++i) {
    absl::StrAppendFormat(&line, "  %*s", widths[i], cells[i]);
  }
  return absl::StrCat(line, "  ", cells.back(), "\n");
}

std::string Teraflop(double flops) {
  const double value = flops / 1e12;
  return absl::StrFormat("%.*f", value < 10 ? 3 : value < 1000 ? 1 : 0, value);
}

std::string Bytes(int64_t bytes) {
  return HumanBytes(static_cast<double>(bytes));
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

absl::string_view UnitName(Unit unit) {
  switch (unit) {
    case Unit::kParams:
      return "params";
    case Unit::kBytes:
      return "bytes";
    case Unit::kSeconds:
      return "seconds";
    case Unit::kDevices:
      return "devices";
    case Unit::kTokens:
      return "tokens";
    case Unit::kNone:
      break;
  }
  return "";
}

std::string HumanValue(const ParallelRow& row) {
  if (!row.value) return "none";
  if (row.unit == Unit::kBytes) return HumanBytesInBothUnits(*row.value);
  if (row.unit == Unit::kSeconds) return HumanTime(*row.value * 1e6);
  const absl::string_view unit = UnitName(row.unit);
  return absl::StrCat(HumanCount(*row.value), unit.empty() ? "" : " ", unit);
}

Cells ParallelCells(const ParallelRow& row) {
  return {
      row.what, HumanValue(row),
      row.value ? row.formula : absl::StrCat(row.formula, "; ", row.reason)};
}

std::string Text(absl::string_view text) { return {text.data(), text.size()}; }

// A whole number without ".0" where a double holds every one of them.
Json Number(double value) {
  if (value == std::floor(value) && value < 0x1p53) {
    return static_cast<int64_t>(value);
  }
  return value;
}

Json QueryJson(const ModelQuery& query) {
  Json models = Json::array(), precisions = Json::array(),
       modes = Json::array();
  for (const ModelConfig& model : query.models) models.push_back(model.name);
  for (Precision precision : query.precisions) {
    precisions.push_back(Text(PrecisionName(precision)));
  }
  for (StepMode mode : query.modes) {
    modes.push_back(Text(StepModeName(mode)));
  }
  return {{"batch", query.batch},
          {"seq", query.seq},
          {"device_memory_bytes", query.device_memory_bytes},
          {"models", models},
          {"precisions", precisions},
          {"modes", modes}};
}

Json RowJson(const ModelRow& row) {
  const ModelConfig& model = row.model;
  const MemoryEstimate& memory = row.memory;
  Json moments = Json::array();
  for (const PeakCandidate& candidate : memory.candidates) {
    moments.push_back({{"name", candidate.name}, {"bytes", candidate.bytes}});
  }
  return {{"model", model.name},
          {"d_model", model.d_model},
          {"d_ff", model.d_ff},
          {"layers", model.layers},
          {"heads", model.heads},
          {"vocab", model.vocab},
          {"attention", Text(AttentionName(model.attention))},
          {"precision", Text(PrecisionName(row.precision))},
          {"mode", Text(StepModeName(row.mode))},
          {"params", row.params},
          {"parameter_bytes", memory.parameter_bytes},
          {"gradient_bytes", memory.gradient_bytes},
          {"optimizer_bytes", memory.optimizer_bytes},
          {"input_bytes", memory.input_bytes},
          {"saved_bytes", memory.saved_bytes},
          {"saved_bytes_per_block", row.saved_bytes_per_block},
          {"predicted_peak_bytes", memory.peak.bytes},
          {"predicted_peak_moment", memory.peak.name},
          {"fits", row.fits},
          {"largest_seq", row.largest_seq},
          {"flops", Number(row.flops)},
          {"bytes", Number(row.bytes)},
          {"moments", moments}};
}

// Without the indentation of the text table.
std::string WithoutIndent(const std::string& what) {
  return what.substr(what.find_first_not_of(' '));
}

Json RowJson(const ParallelGroup& group, const ParallelRow& row) {
  Json json = {{"group", group.name},
               {"name", row.name},
               {"what", WithoutIndent(row.what)},
               {"formula", row.formula},
               {"value", nullptr},
               {"unit", Text(UnitName(row.unit))}};
  if (row.value) {
    json["value"] = Number(*row.value);
  } else {
    json["reason"] = row.reason;
  }
  return json;
}

std::string Document(const Json& query, const Json& rows) {
  return Json({{"query", query}, {"rows", rows}}).dump(2) + "\n";
}

}  // namespace

std::string ModelText(const ModelQuery& query,
                      const std::vector<ModelRow>& rows) {
  std::vector<Cells> lines = {{"model", "parameters", "weights", "gradients",
                               "optimizer", "saved", "per block", "peak",
                               "fits", "max seq", "TFLOP", "moved", "peak at"}};
  for (const ModelRow& row : rows) lines.push_back(ModelCells(row));
  // The same widths in all tables make them easy to compare.
  const std::vector<int> widths = Widths(lines);

  std::string out =
      absl::StrCat("batch ", query.batch, ", seq ", query.seq,
                   ", device memory ", Bytes(query.device_memory_bytes), "\n");
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i % query.models.size() == 0) {
      absl::StrAppend(&out, "\n", PrecisionName(rows[i].precision), " ",
                      StepModeName(rows[i].mode), "\n",
                      ModelLine(lines[0], widths));
    }
    absl::StrAppend(&out, ModelLine(lines[i + 1], widths));
  }
  absl::StrAppend(&out, "\n", kModelNotes);
  return out;
}

std::string ModelJson(const ModelQuery& query,
                      const std::vector<ModelRow>& rows) {
  Json list = Json::array();
  for (const ModelRow& row : rows) list.push_back(RowJson(row));
  return Document(QueryJson(query), list);
}

std::string ParallelText(const std::vector<ParallelGroup>& groups) {
  std::vector<Cells> lines;
  for (const ParallelGroup& group : groups) {
    for (const ParallelRow& row : group.rows) {
      lines.push_back(ParallelCells(row));
    }
  }
  const std::vector<int> widths = Widths(lines);

  std::string out;
  for (const ParallelGroup& group : groups) {
    absl::StrAppend(&out, group.title, "\n  ", group.constants, "\n");
    for (const ParallelRow& row : group.rows) {
      const Cells cells = ParallelCells(row);
      absl::StrAppendFormat(&out, "  %-*s  %-*s  %s\n", widths[0], cells[0],
                            widths[1], cells[1], cells[2]);
    }
    absl::StrAppend(&out, "\n");
  }
  absl::StrAppend(&out, kParallelNotes);
  return out;
}

std::string ParallelJson(const ParallelQuery& query,
                         const std::vector<ParallelGroup>& groups) {
  Json flags;
  for (const auto& [name, value] : query.numbers) flags[name] = Number(value);
  flags["links"] = query.links_flag;
  Json rows = Json::array();
  for (const ParallelGroup& group : groups) {
    for (const ParallelRow& row : group.rows) {
      rows.push_back(RowJson(group, row));
    }
  }
  return Document(flags, rows);
}

}  // namespace trainbench
