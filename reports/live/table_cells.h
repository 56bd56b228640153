// SPDX-License-Identifier: MIT
// The text of one row of the console table, and its columns.

#ifndef TRAINBENCH_REPORTS_LIVE_TABLE_CELLS_H_
#define TRAINBENCH_REPORTS_LIVE_TABLE_CELLS_H_

#include <cstddef>
#include <string>

#include "reports/live/run_compat.h"

namespace trainbench {

struct TableCells {
  std::string name;
  std::string time;
  std::string half_width;
  std::string phases;
  std::string rate;
  std::string peak;
  std::string predicted;
  std::string note;
};

// Column headings.
TableCells HeadingCells();

// A counter that the run lacks reads "-". Aggregates over repetitions have
// neither phases nor a note: a standard deviation is not launch-bound.
TableCells CellsOf(const BenchmarkRun& run);

// One line without its newline. A name wider than `name_width` moves the rest
// to the right; it is never cut.
std::string TableLine(const TableCells& cells, size_t name_width);

// A line whose time is a word ("SKIPPED", "ERROR") and whose other columns are
// one text. `color` is an ANSI code for the word, or empty.
std::string WordLine(const std::string& name, const std::string& word,
                     const std::string& text, size_t name_width,
                     const std::string& color);

}  // namespace trainbench

#endif  // TRAINBENCH_REPORTS_LIVE_TABLE_CELLS_H_
