// SPDX-License-Identifier: MIT
// Tables and documents, for the answers of both questions.

#ifndef TRAINBENCH_TOOLS_PLANNER_LAYOUT_H_
#define TRAINBENCH_TOOLS_PLANNER_LAYOUT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace trainbench {

using Cells = std::vector<std::string>;
using Json = nlohmann::ordered_json;

// The width of each column; every line has as many cells as the first.
std::vector<int> Widths(const std::vector<Cells>& lines);

// The first cell holds words, the others right-aligned numbers; the last is
// words where `ends_in_words`.
std::string Line(const Cells& cells, const std::vector<int>& widths,
                 bool ends_in_words);

// All lines under each other.
std::string Table(const std::vector<Cells>& lines, bool ends_in_words = false);

std::string Text(absl::string_view text);

// "12.5 MiB".
std::string Bytes(int64_t bytes);
// In units of 10^12, with at least three digits.
std::string Teraflop(double flops);

// A whole number without ".0" where a double holds every one of them.
Json Number(double value);

// {"query": ..., "rows": ...}
std::string Document(const Json& query, const Json& rows);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_LAYOUT_H_
