// SPDX-License-Identifier: MIT

#include "reports/live/table_cells.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "reports/live/human_units.h"
#include "reports/live/run_label.h"

namespace trainbench {
namespace {

constexpr size_t kTimeWidth = 8;
constexpr double kNoisyCv = 0.1;

// NaN if absent, which every formatter prints as "-".
double Counter(const BenchmarkRun& run, const char* name) {
  const auto it = run.counters.find(name);
  return it == run.counters.end() ? std::numeric_limits<double>::quiet_NaN()
                                  : it->second.value;
}

double TimeUs(const BenchmarkRun& run) {
  return run.GetAdjustedRealTime() /
         benchmark::GetTimeUnitMultiplier(run.time_unit) * 1e6;
}

// A row of a null GPU has the time 0, which is none.
std::string TimeText(const BenchmarkRun& run) {
  const double us = TimeUs(run);
  return us == 0 ? "-" : HumanTime(us);
}

std::string HalfWidth(const BenchmarkRun& run) {
  const double width = Counter(run, "p50_high_us") - Counter(run, "p50_low_us");
  const double fraction = width / 2 / Counter(run, "p50_us");
  if (!std::isfinite(fraction)) return "-";
  if (fraction >= 9.995) return "±>999%";
  const double percent = fraction * 100;
  return percent < 9.95 ? absl::StrFormat("±%.1f%%", percent)
                        : absl::StrFormat("±%.0f%%", percent);
}

// Shares of the step in percent, which show where the time goes in one column;
// the times are in the JSON. If a row times one phase only, the step is the sum
// of its phases.
std::string PhaseShares(const BenchmarkRun& run) {
  const std::array<const char*, 5> phases = {"forward_us", "loss_us",
                                             "backward_us", "communication_us",
                                             "optimizer_us"};
  double sum = 0;
  for (const char* phase : phases) {
    const double us = Counter(run, phase);
    if (std::isfinite(us)) sum += us;
  }
  if (sum == 0) return "-";
  const double step = std::max(sum, TimeUs(run));
  std::vector<std::string> shares;
  for (const char* phase : phases) {
    const double share = Counter(run, phase) / step * 100;
    shares.push_back(std::isfinite(share) ? absl::StrFormat("%.0f", share)
                                          : "-");
  }
  return absl::StrJoin(shares, "/");
}

// Attention alone counts as papers on its kernels do, without the masked half.
double FlopRate(const BenchmarkRun& run) {
  const double kernel = Counter(run, "kernel_flops_per_second");
  return std::isfinite(kernel) ? kernel : Counter(run, "flops_per_second");
}

std::string Rate(const BenchmarkRun& run) {
  const double flops = FlopRate(run);
  if (std::isfinite(flops)) return HumanRate(flops, "FLOP/s");
  // busbw of an all-reduce compares with a link's bandwidth, whatever the
  // number of ranks.
  const double bus = Counter(run, "busbw_bytes_per_second");
  return HumanRate(std::isfinite(bus) ? bus : Counter(run, "bytes_per_second"),
                   "B/s");
}

// The text results of the case, without what disturbed the samples.
std::vector<std::string> FindingsOf(const RunLabel& label) {
  std::vector<std::string> words;
  for (const auto& [key, value] : label.findings) {
    if (key != "noisy") words.push_back(absl::StrCat(key, "=", value));
  }
  return words;
}

// What disturbed the samples, and their spread.
std::string Noise(const BenchmarkRun& run, const RunLabel& label) {
  std::vector<std::string> causes;
  for (const auto& [key, value] : label.findings) {
    if (key == "noisy") causes.push_back(value);
  }
  const double cv = Counter(run, "cv");
  if (cv > kNoisyCv) causes.push_back("cv " + HumanPercent(cv));
  return causes.empty() ? "" : "noisy: " + absl::StrJoin(causes, " + ");
}

// The cost of running on several ranks.
std::string NoteOfRanks(const BenchmarkRun& run) {
  std::vector<std::string> notes;
  const auto add = [&](const char* name, double fraction) {
    if (!std::isfinite(fraction)) return;
    notes.push_back(absl::StrCat(name, " ", HumanPercent(fraction)));
  };
  add("scaling efficiency", Counter(run, "scaling_efficiency"));
  add("communication exposed", Counter(run, "exposed_us") / TimeUs(run));
  return absl::StrJoin(notes, ", ");
}

// If the device was held, the row's time is not the host's.
std::string LaunchBound(const BenchmarkRun& run) {
  const double driven = Counter(run, "driven_us");
  if (!std::isfinite(driven)) return "launch-bound";
  return "launch-bound: " + HumanTime(driven) + " as the host drives it";
}

std::string Note(const BenchmarkRun& run) {
  const RunLabel label = ReadLabel(run.report_label);
  std::vector<std::string> notes = FindingsOf(label);
  std::string noise = Noise(run, label);
  if (const std::string ranks = NoteOfRanks(run); !ranks.empty()) {
    notes.push_back(ranks);
  } else if (const double speedup = Counter(run, "speedup");
             std::isfinite(speedup)) {
    notes.push_back(absl::StrFormat("speed-up %.3g", speedup));
  }
  if (Counter(run, "launch_bound") > 0) notes.push_back(LaunchBound(run));
  const double mfu = Counter(run, "mfu");
  if (std::isfinite(mfu)) notes.push_back("mfu " + HumanPercent(mfu));
  const double measured = Counter(run, "mfu_measured");
  if (std::isfinite(measured)) {
    const double counted = FlopRate(run) / Counter(run, "flops_per_second");
    notes.push_back(
        HumanPercent(measured * (std::isfinite(counted) ? counted : 1)) +
        " of peak");
  }
  if (!noise.empty()) notes.push_back(std::move(noise));
  return absl::StrJoin(notes, ", ");
}

// The `cv` aggregate, whose numbers are all fractions.
TableCells PercentageCells(const BenchmarkRun& run) {
  const double flops = Counter(run, "flops_per_second");
  const double rate =
      std::isnan(flops) ? Counter(run, "bytes_per_second") : flops;
  return {.name = run.benchmark_name(),
          .time = HumanPercent(run.real_accumulated_time),
          .half_width = "-",
          .phases = "-",
          .rate = HumanPercent(rate),
          .peak = HumanPercent(Counter(run, "peak_bytes")),
          .predicted = "-",
          .note = ""};
}

// Counts characters, not bytes: "±" has two bytes.
std::string Padding(const std::string& text, size_t width) {
  const auto used =
      static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
      }));
  return std::string(used < width ? width - used : 0, ' ');
}

std::string Left(const std::string& text, size_t width) {
  return text + Padding(text, width);
}

std::string Right(const std::string& text, size_t width) {
  return Padding(text, width) + text;
}

}  // namespace

TableCells HeadingCells() {
  return {.name = "case",
          .time = "time",
          .half_width = "±95%",
          .phases = "fwd/loss/bwd/comm/opt %",
          .rate = "rate",
          .peak = "peak mem",
          .predicted = "predicted",
          .note = "note"};
}

TableCells CellsOf(const BenchmarkRun& run) {
  const bool is_aggregate = IsAggregate(run);
  if (is_aggregate && run.aggregate_unit == benchmark::kPercentage) {
    return PercentageCells(run);
  }
  return {.name = run.benchmark_name(),
          .time = TimeText(run),
          .half_width = is_aggregate ? "-" : HalfWidth(run),
          .phases = is_aggregate ? "-" : PhaseShares(run),
          .rate = Rate(run),
          .peak = HumanBytes(Counter(run, "peak_bytes")),
          .predicted = HumanBytes(Counter(run, "predicted_peak_bytes")),
          .note = is_aggregate ? "" : Note(run)};
}

std::string TableLine(const TableCells& cells, size_t name_width) {
  std::string line = absl::StrCat(
      Left(cells.name, name_width), "  ", Right(cells.time, kTimeWidth), " ",
      Right(cells.half_width, 6), "  ", Right(cells.phases, 23), "  ",
      Right(cells.rate, 12), "  ", Right(cells.peak, 9), "  ",
      Right(cells.predicted, 9), "  ", cells.note);
  absl::StripTrailingAsciiWhitespace(&line);
  return line;
}

std::string WordLine(const std::string& name, const std::string& word,
                     const std::string& text, size_t name_width,
                     const std::string& color) {
  return absl::StrCat(Left(name, name_width), "  ", Padding(word, kTimeWidth),
                      color, word, color.empty() ? "" : "\033[0m", "  ", text);
}

}  // namespace trainbench
