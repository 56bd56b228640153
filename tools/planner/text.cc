// SPDX-License-Identifier: MIT

#include "tools/planner/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "reports/live/human_units.h"

namespace trainbench {
namespace {

constexpr size_t kColumns = 13;
using Cells = std::array<std::string, kColumns>;

Cells Header() {
  return {"model", "parameters", "weights", "gradients", "optimizer",
          "saved", "per block",  "peak",    "fits",      "max seq",
          "TFLOP", "moved",      "peak at"};
}

constexpr absl::string_view kNotes =
    "peak is a maximum over the moments of a step, not the sum of the columns "
    "before it: they are not all alive at once.\n"
    "TFLOP counts matmuls only; moved is the least traffic with device memory; "
    "both are per step.\n"
    "saved is what the forward pass keeps for the backward pass; max seq is "
    "the longest that fits at this batch, up to 1048576.\n"
    "Predictions count tensors: leave room for the device's context, library "
    "workspaces and fragmentation.\n";

// The first and the last column hold words, the others numbers.
bool IsLeftAligned(size_t column) {
  return column == 0 || column == kColumns - 1;
}

std::string WithThousands(int64_t value) {
  std::string digits = absl::StrCat(value);
  for (size_t end = digits.size(); end > 3;) {
    end -= 3;
    digits.insert(end, 1, ',');
  }
  return digits;
}

std::string Teraflop(double flops) {
  const double value = flops / 1e12;
  return absl::StrFormat("%.*f", value < 10 ? 3 : value < 1000 ? 1 : 0, value);
}

std::string Bytes(int64_t bytes) {
  return HumanBytes(static_cast<double>(bytes));
}

// "softmax backward of the last block" takes too much of a line.
std::string ShortMoment(const std::string& name) {
  return absl::StrReplaceAll(name,
                             {{" backward of the last block", " bwd (last)"},
                              {" backward of the first block", " bwd (first)"},
                              {" of the last block", " (last)"},
                              {"feed-forward matmul", "ff matmul"}});
}

Cells CellsOf(const PlanRow& row) {
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
          ShortMoment(memory.peak.name)};
}

void AppendLine(const Cells& cells, const std::array<size_t, kColumns>& widths,
                std::string& out) {
  std::string line;
  for (size_t i = 0; i < kColumns; ++i) {
    const std::string padding(widths[i] - cells[i].size(), ' ');
    absl::StrAppend(&line, i == 0 ? "" : "  ");
    if (IsLeftAligned(i)) {
      absl::StrAppend(&line, cells[i], i + 1 == kColumns ? "" : padding);
    } else {
      absl::StrAppend(&line, padding, cells[i]);
    }
  }
  absl::StrAppend(&out, line, "\n");
}

// One width per column in all tables, so that they can be compared by eye.
std::array<size_t, kColumns> Widths(const std::vector<Cells>& lines) {
  std::array<size_t, kColumns> widths{};
  for (const Cells& cells : lines) {
    for (size_t i = 0; i < kColumns; ++i) {
      widths[i] = std::max(widths[i], cells[i].size());
    }
  }
  return widths;
}

}  // namespace

std::string PlanText(const PlanQuery& query, const std::vector<PlanRow>& rows) {
  std::vector<Cells> lines = {Header()};
  for (const PlanRow& row : rows) lines.push_back(CellsOf(row));
  const std::array<size_t, kColumns> widths = Widths(lines);

  std::string out =
      absl::StrCat("batch ", query.batch, ", seq ", query.seq,
                   ", device memory ", Bytes(query.device_memory_bytes), "\n");
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i % query.models.size() == 0) {
      absl::StrAppend(&out, "\n", PrecisionName(rows[i].precision), " ",
                      StepModeName(rows[i].mode), "\n");
      AppendLine(lines[0], widths, out);
    }
    AppendLine(lines[i + 1], widths, out);
  }
  absl::StrAppend(&out, "\n", kNotes);
  return out;
}

}  // namespace trainbench
