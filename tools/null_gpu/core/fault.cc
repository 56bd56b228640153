// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/fault.h"

#include <algorithm>
#include <array>
#include <limits>

#include "tools/null_gpu/core/settings.h"

namespace null_gpu {
namespace {

constexpr uint64_t kAlways = std::numeric_limits<uint64_t>::max();

// A class of calls.
struct CallClass {
  std::string_view name, effect;  // of a rule without one
  bool enqueues = false;          // work, which may never end
};
constexpr CallClass kClasses[] = {
    {"malloc", "out_of_memory"},
    {"host_malloc", "out_of_memory"},
    {"launch", "launch_failure", true},
    {"copy", "launch_failure", true},
    {"fill", "launch_failure", true},
    {"event_record", "launch_failure", true},
    {"event_query", "not_ready"},
    {"synchronize", "launch_failure"},
    {"graph_launch", "launch_failure"},
    {"nccl", "system_error", true},
    {"kernel_record", "unknown"},
};

// Returns null for a function of the API.
const CallClass* FindClass(std::string_view call) {
  for (const CallClass& known : kClasses) {
    if (known.name == call) return &known;
  }
  return nullptr;
}

struct ErrorWord {
  std::string_view word;
  cudaError_t error;
};
constexpr std::array<ErrorWord, 7> kErrors = {{
    {"out_of_memory", cudaErrorMemoryAllocation},
    {"launch_failure", cudaErrorLaunchFailure},
    {"illegal_address", cudaErrorIllegalAddress},
    {"assert", cudaErrorAssert},
    {"not_ready", cudaErrorNotReady},
    {"invalid_value", cudaErrorInvalidValue},
    {"unknown", cudaErrorUnknown},
}};
constexpr std::array<std::string_view, 3> kNcclErrors = {
    "system_error", "internal_error", "remote_error"};

// Cuts `text` at the first `mark` and returns the rest, if the mark is there.
std::optional<std::string_view> CutAt(std::string_view& text,
                                      std::string_view mark) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + mark.size());
  text = text.substr(0, at);
  return rest;
}

bool ParseWhich(std::string_view text, uint64_t& first, uint64_t& last) {
  if (text == "*") {
    first = 1;
    last = kAlways;
    return true;
  }
  const bool onwards = text.ends_with('+');
  if (onwards) text.remove_suffix(1);
  if (!ParseNumber(text, first) || first == 0) return false;
  last = onwards ? kAlways : first;
  return true;
}

bool ParseEffect(std::string_view word, bool nccl, Fault& fault) {
  fault.word = word;
  if (word == "never" || word == "hang") {
    fault.effect =
        word == "never" ? Fault::Effect::kNever : Fault::Effect::kHang;
    return true;
  }
  for (const ErrorWord& error : kErrors) {
    if (error.word != word) continue;
    fault.error = error.error;
    return true;
  }
  fault.effect = Fault::Effect::kNccl;
  return nccl && std::find(kNcclErrors.begin(), kNcclErrors.end(), word) !=
                     kNcclErrors.end();
}

}  // namespace

std::string FaultPlan::ParseRule(std::string_view text, Rule& rule) {
  const std::string whole(text);
  if (const auto flag = CutAt(text, ",")) {
    if (*flag != "sticky") return "unknown flag in \"" + whole + "\"";
    rule.fault.sticky = true;
  }
  auto which = CutAt(text, ":");
  if (!which) return "no \":\" in \"" + whole + "\"";
  const auto word = CutAt(*which, "=");
  if (!ParseWhich(*which, rule.first, rule.last)) {
    return "which call is meant by \"" + whole + "\"?";
  }
  if (const auto bytes = CutAt(text, ">=")) {
    if (!ParseNumber(*bytes, rule.least_bytes)) {
      return "bytes in \"" + whole + "\" are no number";
    }
  }
  rule.call = text;
  const CallClass* const known = FindClass(text);
  if (known == nullptr && !text.starts_with("cu") &&
      !text.starts_with("nccl")) {
    return "unknown call in \"" + whole + "\"";
  }
  const std::string_view effect = word               ? *word
                                  : known != nullptr ? known->effect
                                                     : "unknown";
  if (effect == "never" && (known == nullptr || !known->enqueues)) {
    return "nothing that could never end in \"" + whole + "\"";
  }
  if (!ParseEffect(effect, text.starts_with("nccl"), rule.fault)) {
    return "unknown effect in \"" + whole + "\"";
  }
  return "";
}

std::string FaultPlan::Parse(std::string_view text) {
  std::vector<Rule> rules;
  for (std::optional<std::string_view> rest = text; rest;) {
    std::string_view part = *rest;
    rest = CutAt(part, ";");
    if (part.empty()) continue;
    const std::string error = ParseRule(part, rules.emplace_back());
    if (!error.empty()) return error;
  }
  const std::lock_guard lock(mutex_);
  rules_ = std::move(rules);
  empty_ = rules_.empty();
  return "";
}

std::optional<Fault> FaultPlan::Next(std::string_view call, size_t bytes) {
  if (empty_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  std::optional<Fault> hit;
  for (Rule& rule : rules_) {
    if (rule.call != call || bytes < rule.least_bytes) continue;
    ++rule.calls;
    if (!hit && rule.calls >= rule.first && rule.calls <= rule.last) {
      hit = rule.fault;
    }
  }
  return hit;
}

}  // namespace null_gpu
