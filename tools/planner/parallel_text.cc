// SPDX-License-Identifier: MIT

#include "tools/planner/parallel_text.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tools/planner/parallel_units.h"

namespace trainbench {
namespace {

constexpr absl::string_view kNotes =
    "GB is 10^9 bytes and GiB 2^30: a device of \"80 GB\" mostly has about 80 "
    "GiB, "
    "7 % more than 80 10^9 bytes.\n"
    "A pass is compute-bound while what it sends takes no longer than what it "
    "computes, the two at the same time.\n"
    "Bounds count matmuls and bytes, no cost of a call: a real job stops to "
    "gain earlier.\n"
    "A pipeline stage must keep gathered weights over the micro-batches of a "
    "step, or each of these has to be that large.\n";

std::string ValueOf(const ParallelRow& row) {
  return row.value ? HumanValue(*row.value, row.unit) : "none";
}

std::string FormulaOf(const ParallelRow& row) {
  return row.value ? row.formula
                   : absl::StrCat(row.formula, "; ", row.what_not);
}

std::string Padded(absl::string_view text, size_t width) {
  return absl::StrCat(text, std::string(width - text.size(), ' '));
}

}  // namespace

std::string ParallelText(const std::vector<ParallelGroup>& groups) {
  size_t what = 0, value = 0;
  for (const ParallelGroup& group : groups) {
    for (const ParallelRow& row : group.rows) {
      what = std::max(what, row.what.size());
      value = std::max(value, ValueOf(row).size());
    }
  }
  std::string out;
  for (const ParallelGroup& group : groups) {
    absl::StrAppend(&out, group.title, "\n  ", group.constants, "\n");
    for (const ParallelRow& row : group.rows) {
      absl::StrAppend(&out, "  ", Padded(row.what, what), "  ",
                      Padded(ValueOf(row), value), "  ", FormulaOf(row), "\n");
    }
    absl::StrAppend(&out, "\n");
  }
  return absl::StrCat(out, kNotes);
}

}  // namespace trainbench
