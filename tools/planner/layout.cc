// SPDX-License-Identifier: MIT

#include "tools/planner/layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "fixtures/reporters/human_units.h"

namespace trainbench {

std::vector<int> Widths(const std::vector<Cells>& lines) {
  std::vector<int> widths(lines.front().size());
  for (const Cells& cells : lines) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], static_cast<int>(cells[i].size()));
    }
  }
  return widths;
}

std::string Line(const Cells& cells, const std::vector<int>& widths,
                 bool ends_in_words) {
  std::string line = absl::StrFormat("%-*s", widths[0], cells[0]);
  const std::size_t numbers = cells.size() - (ends_in_words ? 1 : 0);
  for (std::size_t i = 1; i < numbers; ++i) {
    absl::StrAppendFormat(&line, "  %*s", widths[i], cells[i]);
  }
  if (ends_in_words) absl::StrAppend(&line, "  ", cells.back());
  return absl::StrCat(line, "\n");
}

std::string Table(const std::vector<Cells>& lines, bool ends_in_words) {
  const std::vector<int> widths = Widths(lines);
  std::string table;
  for (const Cells& cells : lines) {
    absl::StrAppend(&table, Line(cells, widths, ends_in_words));
  }
  return table;
}

std::string Text(absl::string_view text) { return {text.data(), text.size()}; }

std::string Teraflop(double flops) {
  const double value = flops / 1e12;
  return absl::StrFormat("%.*f", value < 10 ? 3 : value < 1000 ? 1 : 0, value);
}

std::string Bytes(int64_t bytes) {
  return HumanBytes(static_cast<double>(bytes));
}

Json Number(double value) {
  if (value == std::floor(value) && value < 0x1p53) {
    return static_cast<int64_t>(value);
  }
  return value;
}

std::string Document(const Json& query, const Json& rows) {
  return Json({{"query", query}, {"rows", rows}}).dump(2) + "\n";
}

}  // namespace trainbench
