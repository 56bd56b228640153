// SPDX-License-Identifier: MIT

#include "reports/live/row_counter.h"

#include <utility>

#include "reports/live/run_compat.h"

namespace trainbench {

RowCounter::RowCounter(benchmark::BenchmarkReporter& wrapped,
                       StatusLookup lookup)
    : wrapped_(wrapped), lookup_(std::move(lookup)) {
  SetOutputStream(&wrapped.GetOutputStream());
  SetErrorStream(&wrapped.GetErrorStream());
}

bool RowCounter::ReportContext(const Context& context) {
  return wrapped_.ReportContext(context);
}

void RowCounter::ReportRuns(const std::vector<Run>& runs) {
  std::vector<Run> published;
  published.reserve(runs.size());
  for (const Run& run : runs) {
    Run copy = PublishedRun(run);
    const RowStatus status = Classify(copy, lookup_);
    counts_.Add(copy.run_name.str(), IsAggregate(copy), status.kind);
    if (status.kind != RowStatus::Kind::kGood) MarkFailed(copy, status.reason);
    published.push_back(std::move(copy));
  }
  wrapped_.ReportRuns(published);
}

void RowCounter::Finalize() { wrapped_.Finalize(); }

}  // namespace trainbench
