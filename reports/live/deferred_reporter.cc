// SPDX-License-Identifier: MIT

#include "reports/live/deferred_reporter.h"

#include <utility>

namespace trainbench {

DeferredReporter::DeferredReporter(
    std::unique_ptr<benchmark::BenchmarkReporter> wrapped)
    : wrapped_(std::move(wrapped)) {
  SetOutputStream(&wrapped_->GetOutputStream());
  SetErrorStream(&wrapped_->GetErrorStream());
}

bool DeferredReporter::ReportContext(const Context& context) {
  return wrapped_->ReportContext(context);
}

void DeferredReporter::ReportRuns(const std::vector<Run>& runs) {
  runs_.insert(runs_.end(), runs.begin(), runs.end());
}

void DeferredReporter::Finalize() {
  wrapped_->ReportRuns(runs_);
  wrapped_->Finalize();
}

}  // namespace trainbench
