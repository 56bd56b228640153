// SPDX-License-Identifier: MIT

#include "tools/planner/training.h"

#include <algorithm>
#include <map>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "fixtures/reporters/human_units.h"
#include "fixtures/reporters/stored_result.h"

namespace trainbench {
namespace {

constexpr char kExperiment[] = "model_size";

// "model_size/small/fp32/train_step/batch:4/seq:512".
std::optional<MeasuredRate> ParseStep(const std::string& case_name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(case_name, '/');
  if (parts.size() != 6 || parts[0] != kExperiment) return std::nullopt;
  MeasuredRate rate = {
      .case_name = case_name,
      .step = absl::StrJoin(parts.begin(), parts.begin() + 4, "/")};
  absl::string_view batch = parts[4], seq = parts[5];
  if (!absl::ConsumePrefix(&batch, "batch:") ||
      !absl::ConsumePrefix(&seq, "seq:") ||
      !absl::SimpleAtoi(batch, &rate.batch) ||
      !absl::SimpleAtoi(seq, &rate.seq)) {
    return std::nullopt;
  }
  return rate;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half]
                                : (values[half - 1] + values[half]) / 2;
}

// Nullptr if no rate is of the step's model, precision and mode.
const MeasuredRate* FindRate(const TrainingQuery& query, const StepParams& step,
                             const std::string& name) {
  const MeasuredRate* best = nullptr;
  for (const MeasuredRate& rate : query.rates) {
    if (rate.step != name) continue;
    if (rate.batch == step.batch && rate.seq == step.seq) return &rate;
    if (best == nullptr || rate.batch * rate.seq > best->batch * best->seq) {
      best = &rate;
    }
  }
  return best;
}

std::string NameOf(const StepParams& step) {
  return absl::StrCat(kExperiment, "/", step.model.name, "/",
                      PrecisionName(step.precision), "/",
                      StepModeName(step.mode));
}

}  // namespace

absl::StatusOr<std::vector<MeasuredRate>> ReadRates(const std::string& path) {
  const absl::StatusOr<StoredResult> result = ReadStoredResult(path);
  if (!result.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("measured is '", path, "': ", result.status().message()));
  }
  std::vector<MeasuredRate> rates;
  std::map<std::string, std::vector<double>> values;
  for (const StoredEntry& entry : result->benchmarks) {
    const auto value = entry.counters.find("flops_per_second");
    const std::optional<MeasuredRate> rate = ParseStep(entry.case_name);
    if (!rate || value == entry.counters.end() || !(value->second > 0)) {
      continue;
    }
    if (values[entry.case_name].empty()) rates.push_back(*rate);
    values[entry.case_name].push_back(value->second);
  }
  if (rates.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("measured is '", path,
                     "', which has no timed row of model_size; allowed: a "
                     "result with one"));
  }
  for (MeasuredRate& rate : rates) {
    rate.flops_per_second = Median(values[rate.case_name]);
  }
  return rates;
}

TrainingTime TimeTraining(const TrainingQuery& query, const StepParams& step,
                          double flops) {
  TrainingTime time;
  time.steps = static_cast<double>(query.tokens) /
               static_cast<double>(step.batch * step.seq);
  if (query.mfu > 0) {
    time.flops_per_second = query.mfu * query.peak_flops_per_second;
    time.basis = absl::StrCat(HumanPercent(query.mfu), " of ",
                              HumanRate(query.peak_flops_per_second, "FLOP/s"));
  } else {
    const std::string name = NameOf(step);
    const MeasuredRate* rate = FindRate(query, step, name);
    if (rate == nullptr) {
      time.basis = absl::StrCat("no row ", name);
      return time;
    }
    time.flops_per_second = rate->flops_per_second;
    time.basis = rate->case_name;
  }
  if (query.peak_flops_per_second > 0) {
    time.mfu = time.flops_per_second / query.peak_flops_per_second;
  }
  time.seconds = time.steps * flops / time.flops_per_second;
  return time;
}

}  // namespace trainbench
