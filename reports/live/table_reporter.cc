// SPDX-License-Identifier: MIT

#include "reports/live/table_reporter.h"

#include <algorithm>
#include <cstdlib>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "reports/live/run_compat.h"
#include "reports/live/table_cells.h"

namespace trainbench {
namespace {

constexpr size_t kHeaderColumns = 120;

bool ColorsForbidden() {
  const char* value = std::getenv("NO_COLOR");
  return value != nullptr && *value != '\0';
}

// A LibTorch message can fill a page; the JSON has all of it.
std::string FirstLine(const std::string& text) {
  return text.substr(0, text.find_first_of("\r\n"));
}

std::string Header(
    const std::vector<std::pair<std::string, std::string>>& items) {
  std::string out;
  size_t column = 0;
  for (const auto& [key, value] : items) {
    const std::string item = absl::StrCat(key, ": ", value);
    if (column > 0 && column + 3 + item.size() <= kHeaderColumns) {
      absl::StrAppend(&out, "   ", item);
      column += 3 + item.size();
    } else {
      absl::StrAppend(&out, column > 0 ? "\n" : "", item);
      column = item.size();
    }
  }
  return out.empty() ? out : out + "\n\n";
}

std::string Summary(const RowCounts& counts, size_t details) {
  std::string out =
      absl::StrCat(counts.cases(), counts.cases() == 1 ? " case" : " cases");
  if (counts.rows() != counts.cases()) {
    absl::StrAppend(&out, " in ", counts.rows(), " runs");
  }
  absl::StrAppend(&out, ": ", counts.good(), " measured, ", counts.skipped(),
                  " skipped, ", counts.errors(), " failed\n");
  if (details > 0) {
    absl::StrAppend(&out, details, " smaller ",
                    details == 1 ? "part is" : "parts are",
                    " in the result file alone; --suite=full prints all\n");
  }
  return out;
}

}  // namespace

TableReporter::TableReporter(TableOptions options, StatusLookup lookup)
    : options_(std::move(options)),
      use_color_(options_.is_terminal && !ColorsForbidden()),
      lookup_(std::move(lookup)) {}

bool TableReporter::ReportContext(const Context&) {
  GetOutputStream() << Header(options_.header) << std::flush;
  return true;
}

void TableReporter::ReportRuns(const std::vector<Run>& runs) {
  if (!runs.empty()) PrintHeadings();
  for (const Run& run : runs) {
    PrintRun(PublishedRun(run), !options_.is_one_line);
  }
  if (options_.is_one_line) PrintMedian(runs);
  GetOutputStream() << std::flush;
}

void TableReporter::Finalize() {
  GetOutputStream() << "\n" << Summary(counts_, details_.size()) << std::flush;
}

void TableReporter::PrintHeadings() {
  if (std::exchange(printed_headings_, true)) return;
  GetOutputStream() << TableLine(HeadingCells(), options_.name_width) << "\n";
}

void TableReporter::PrintMedian(const std::vector<Run>& runs) {
  std::vector<Run> good;
  for (const Run& run : runs) {
    const RowStatus status = Classify(PublishedRun(run), lookup_);
    const bool is_row = status.kind == RowStatus::Kind::kGood &&
                        !status.is_detail && !IsAggregate(run);
    if (is_row) good.push_back(PublishedRun(run));
  }
  if (good.empty()) return;
  const auto by_time = [](const Run& one, const Run& other) {
    return one.GetAdjustedRealTime() < other.GetAdjustedRealTime();
  };
  std::sort(good.begin(), good.end(), by_time);
  Run median = good[good.size() / 2];
  median.counters["p50_low_us"] = good.front().counters["p50_us"];
  median.counters["p50_high_us"] = good.back().counters["p50_us"];
  GetOutputStream() << TableLine(CellsOf(median), options_.name_width) << "\n"
                    << std::flush;
}

void TableReporter::PrintRun(const Run& published, bool is_shown) {
  const RowStatus status = Classify(published, lookup_);
  if (status.is_detail && status.kind == RowStatus::Kind::kGood) {
    details_.insert(published.run_name.str());
    return;
  }
  const bool counted = counts_.Add(published.run_name.str(),
                                   IsAggregate(published), status.kind);
  if (status.kind == RowStatus::Kind::kGood) {
    if (!is_shown) return;
    GetOutputStream() << TableLine(CellsOf(published), options_.name_width)
                      << "\n";
  } else if (counted) {  // Otherwise the rows of the aggregate were printed.
    GetOutputStream() << FailureLine(published, status) << "\n";
  }
}

std::string TableReporter::FailureLine(const Run& published,
                                       const RowStatus& status) const {
  const bool is_skip = status.kind == RowStatus::Kind::kSkipped;
  const char* color = is_skip ? "\033[33m" : "\033[31m";
  return WordLine(published.run_name.str(), is_skip ? "SKIPPED" : "ERROR",
                  FirstLine(status.reason), options_.name_width,
                  use_color_ ? color : "");
}

}  // namespace trainbench
