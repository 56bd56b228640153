// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/settings.h"

#include <cstdio>
#include <cstdlib>

#include "tools/null_gpu/core/kernel.h"

namespace null_gpu {
namespace {

constexpr int64_t kMostOfAll = 1'000'000'000;

std::string Variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

int64_t Number(const char* name, const char* otherwise, int64_t least,
               int64_t most) {
  const std::string value = Variable(name, otherwise);
  int64_t number = 0;
  if (!ParseNumber(value, number) || number < least || number > most) {
    Die(std::string(name) + "=" + value + " is not from " +
        std::to_string(least) + " to " + std::to_string(most));
  }
  return number;
}

bool Flag(const char* name) { return Number(name, "0", 0, 1) == 1; }

Settings* Read() {
  auto* settings = new Settings;
  const std::string key = Variable("TRAINBENCH_NULL_GPU", "h100");
  std::string known;
  for (const Profile& profile : kProfiles) {
    if (profile.key == key) settings->profile = &profile;
    known.append(" ").append(profile.key);
  }
  if (settings->profile == nullptr) {
    Die("TRAINBENCH_NULL_GPU=" + key + " is none of" + known);
  }
  settings->devices = static_cast<int>(
      Number("TRAINBENCH_NULL_GPU_COUNT", "1", 1, kMostDevices));
  settings->skew_ns =
      Number("TRAINBENCH_NULL_GPU_SKEW", "9000", -kMostOfAll, kMostOfAll);
  settings->exclusive = Flag("TRAINBENCH_NULL_GPU_EXCLUSIVE");
  settings->values = Flag("TRAINBENCH_NULL_GPU_VALUES");
  settings->order = Flag("TRAINBENCH_NULL_GPU_ORDER");
  settings->spins = Flag("TRAINBENCH_NULL_GPU_SPINS");
  settings->report = Variable("TRAINBENCH_NULL_GPU_REPORT", "");
  const std::string rates = Variable("TRAINBENCH_NULL_GPU_RATES", "");
  if (!rates.empty()) settings->rates = ReadRates(rates);
  const std::string error =
      settings->faults.Parse(Variable("TRAINBENCH_NULL_GPU_FAULT", ""));
  if (!error.empty()) Die("TRAINBENCH_NULL_GPU_FAULT: " + error);
  return settings;
}

}  // namespace

// Never destroyed: kernels are registered before and after everything else.
Settings& GetSettings() {
  static Settings* const settings = Read();
  return *settings;
}

void Die(std::string_view message) {
  std::fprintf(stderr, "null GPU: %.*s\n", static_cast<int>(message.size()),
               message.data());
  std::abort();
}

}  // namespace null_gpu
