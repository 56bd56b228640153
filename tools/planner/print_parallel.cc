// SPDX-License-Identifier: MIT

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "fixtures/reporters/human_units.h"
#include "tools/planner/layout.h"
#include "tools/planner/print.h"

namespace trainbench {
namespace {

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

}  // namespace

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
