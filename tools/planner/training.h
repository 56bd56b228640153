// SPDX-License-Identifier: MIT
// How long a training run takes, at a given or a measured rate.

#ifndef TRAINBENCH_TOOLS_PLANNER_TRAINING_H_
#define TRAINBENCH_TOOLS_PLANNER_TRAINING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/spec/step_params.h"

namespace trainbench {

// The rate of a row of `model_size`: FLOPs of its step over its time.
struct MeasuredRate {
  std::string case_name;
  // "model_size/<model>/<precision>/<mode>", and the sizes that follow it.
  std::string step;
  int64_t batch = 0;
  int64_t seq = 0;
  double flops_per_second = 0;  // the median of its repetitions
};

// InvalidArgument, naming the file, if it is no result or has no such row.
absl::StatusOr<std::vector<MeasuredRate>> ReadRates(const std::string& path);

struct TrainingQuery {
  int64_t tokens = 0;
  // Either the share of a peak that the model reaches, ...
  double mfu = 0;                    // 0: not given
  double peak_flops_per_second = 0;  // 0: not given
  // ... or the rates of a result.
  std::string measured;
  std::vector<MeasuredRate> rates;
};

struct TrainingTime {
  double steps = 0;
  std::optional<double> seconds;  // none without a rate
  double flops_per_second = 0;
  std::optional<double> mfu;  // if the peak is given
  // Where the rate comes from, or why there is none.
  std::string basis;
};

// The time of `query.tokens` in steps like this, each of `flops`. Of several
// rates of its model, precision and mode the one of its shape counts; without
// one that of most tokens, whose larger products run at a higher rate.
TrainingTime TimeTraining(const TrainingQuery& query, const StepParams& step,
                          double flops);

}  // namespace trainbench

#endif  // TRAINBENCH_TOOLS_PLANNER_TRAINING_H_
