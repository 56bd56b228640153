// SPDX-License-Identifier: MIT
// What a row has beside its numbers. Google Benchmark passes nothing on but a
// label, so fixtures/runner/google_benchmark_adapter.cc writes it there, as
// JSON: {"parameters": {"model": "tiny", "seq": 128}, "findings": [["logits",
// "bf16"]]}.

#ifndef TRAINBENCH_REPORTS_LIVE_RUN_LABEL_H_
#define TRAINBENCH_REPORTS_LIVE_RUN_LABEL_H_

#include <string>
#include <utility>
#include <vector>

namespace trainbench {

struct RunLabel {
  std::string parameters;  // a JSON object; empty if there is none
  std::vector<std::pair<std::string, std::string>> findings;
  std::string text;  // a label that is not ours, as it is
};

RunLabel ReadLabel(const std::string& label);

// A JSON object. Findings of one name are joined by " + ".
std::string FindingsObject(const RunLabel& label);

// For a person: "model=tiny seq=128 | logits=bf16".
std::string LabelText(const RunLabel& label);

}  // namespace trainbench

#endif  // TRAINBENCH_REPORTS_LIVE_RUN_LABEL_H_
