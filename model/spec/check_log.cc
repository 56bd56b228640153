// SPDX-License-Identifier: MIT

#include "model/spec/check_log.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace trainbench {
namespace {

// The log that is running a check on this thread.
thread_local CheckLog* current_log = nullptr;

}  // namespace

absl::Status CheckError(absl::string_view name, double error, double allowed,
                        absl::string_view where) {
  const std::string key = absl::StrCat(name, "_error");
  const bool is_largest =
      current_log != nullptr && current_log->Keep(key, error);
  if (error <= allowed) return absl::OkStatus();  // false for NaN too
  const std::string text =
      absl::StrFormat("%s %.3g > %.3g%s%s", key, error, allowed,
                      where.empty() ? "" : " ", where);
  if (current_log == nullptr || !current_log->goes_on_) {
    return absl::FailedPreconditionError(text);
  }
  if (is_largest || !current_log->wrong_.contains(key)) {
    current_log->wrong_[key] = text;
  }
  return absl::OkStatus();
}

void AddToCheckLog(absl::string_view word, absl::string_view text) {
  if (current_log == nullptr) return;
  current_log->words_[std::string(word)] = std::string(text);
}

absl::Status CheckLog::Run(const std::function<absl::Status()>& check) {
  wrong_.clear();
  const absl::Cleanup restore = [outer = std::exchange(current_log, this)] {
    current_log = outer;
  };
  const absl::Status status = check();
  std::vector<std::string> all;
  for (const auto& [key, text] : wrong_) all.push_back(text);
  if (all.empty()) return status;
  if (!status.ok()) all.emplace_back(status.message());
  return absl::FailedPreconditionError(absl::StrJoin(all, " + "));
}

bool CheckLog::Keep(const std::string& name, double error) {
  const auto [kept, is_new] = errors_.emplace(name, error);
  if (!is_new && (std::isnan(kept->second) || error <= kept->second)) {
    return false;
  }
  kept->second = error;
  return true;
}

}  // namespace trainbench
