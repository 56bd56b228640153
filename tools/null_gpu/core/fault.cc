// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/fault.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <regex>
#include <sstream>
#include <utility>

#include "tools/null_gpu/core/settings.h"

namespace null_gpu {
namespace {

constexpr uint64_t kAlways = std::numeric_limits<uint64_t>::max();

// A class of calls.
struct CallClass {
  std::string_view name, effect;  // of a rule without one
  bool has_bytes = false;
  bool enqueues = false;  // work, which may never end
};
constexpr CallClass kClasses[] = {
    {"malloc", "out_of_memory", true},
    {"host_malloc", "out_of_memory", true},
    {"launch", "launch_failure", false, true},
    {"event_record", "launch_failure", false, true},
    {"nccl", "remote_error", true, true},
    {"kernel_record", "unknown"},
};

// Returns null for a function of the API.
const CallClass* FindClass(std::string_view call) {
  for (const CallClass& known : kClasses) {
    if (known.name == call) return &known;
  }
  return nullptr;
}

// Only functions of the runtime and of the driver fail by name.
bool IsFunction(std::string_view call) {
  if (!call.starts_with("cu")) return false;
  constexpr std::string_view kOthers[] = {"cublas", "cudnn", "cupti"};
  return std::none_of(
      std::begin(kOthers), std::end(kOthers),
      [&](std::string_view library) { return call.starts_with(library); });
}

struct ErrorWord {
  std::string_view word;
  cudaError_t error;
};
constexpr std::array<ErrorWord, 5> kErrors = {{
    {"out_of_memory", cudaErrorMemoryAllocation},
    {"launch_failure", cudaErrorLaunchFailure},
    {"illegal_address", cudaErrorIllegalAddress},
    {"invalid_value", cudaErrorInvalidValue},
    {"unknown", cudaErrorUnknown},
}};

bool ParseEffect(const std::string& word, bool nccl, Fault& fault) {
  fault.never = word == "never";
  fault.remote_error = nccl && word == "remote_error";
  if (fault.never || fault.remote_error) return true;
  for (const ErrorWord& error : kErrors) {
    if (error.word != word) continue;
    fault.error = error.error;
    return true;
  }
  return false;
}

}  // namespace

std::string FaultPlan::ParseRule(const std::string& text, Rule& rule) {
  // Call, bytes, "*" or the first call and perhaps "+", effect, flag.
  static const auto* const form = new std::regex(
      R"(([^:>]+)(?:>=(\d+))?:(?:\*|([1-9]\d*)(\+)?)(?:=(\w+))?(,sticky)?)");
  std::smatch parts;
  if (!std::regex_match(text, parts, *form) ||
      (parts[2].matched && !ParseNumber(parts[2].str(), rule.least_bytes)) ||
      (parts[3].matched && !ParseNumber(parts[3].str(), rule.first))) {
    return "\"" + text +
           "\" is not <call>[>=<bytes>]:<which>[=<effect>][,sticky]";
  }
  rule.call = parts[1];
  rule.last = parts[3].matched && !parts[4].matched ? rule.first : kAlways;
  rule.fault.sticky = parts[6].matched;
  const CallClass* const known = FindClass(rule.call);
  if (known == nullptr && !IsFunction(rule.call)) {
    return "unknown call in \"" + text + "\"";
  }
  if (parts[2].matched && (known == nullptr || !known->has_bytes)) {
    return "nothing that has bytes in \"" + text + "\"";
  }
  const std::string effect = parts[5].matched   ? parts[5].str()
                             : known != nullptr ? std::string(known->effect)
                                                : "unknown";
  if (effect == "never" && (known == nullptr || !known->enqueues)) {
    return "nothing that could never end in \"" + text + "\"";
  }
  if (!ParseEffect(effect, rule.call == "nccl", rule.fault)) {
    return "unknown effect in \"" + text + "\"";
  }
  return "";
}

std::string FaultPlan::Parse(const std::string& text) {
  std::vector<Rule> rules;
  std::istringstream stream(text);
  for (std::string rule; std::getline(stream, rule, ';');) {
    if (rule.empty()) continue;
    const std::string error = ParseRule(rule, rules.emplace_back());
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
