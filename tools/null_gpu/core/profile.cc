// SPDX-License-Identifier: MIT

#include "tools/null_gpu/core/profile.h"

#include <array>

namespace null_gpu {
namespace {

constexpr size_t Gib(double gib) {
  return static_cast<size_t>(gib * (1 << 30));
}
constexpr int kMib = 1 << 20;
constexpr int kKib = 1 << 10;

constexpr std::array<Profile, 6> kProfiles = {{
    {"h100", "NVIDIA H100 80GB HBM3", Gib(79.11), 132, 9, 0, 50 * kMib, 1980000,
     2619000, 5120, 228 * kKib},
    {"h200", "NVIDIA H200", Gib(139.72), 132, 9, 0, 60 * kMib, 1980000, 3201000,
     6144, 228 * kKib},
    {"a100-40", "NVIDIA A100-SXM4-40GB", Gib(39.39), 108, 8, 0, 40 * kMib,
     1410000, 1215000, 5120, 164 * kKib},
    {"a100-80", "NVIDIA A100-SXM4-80GB", Gib(79.14), 108, 8, 0, 40 * kMib,
     1410000, 1593000, 5120, 164 * kKib},
    {"b200", "NVIDIA B200", Gib(178.35), 148, 10, 0, 126 * kMib, 1965000,
     3996000, 8192, 228 * kKib},
    // Too old for trainbench.
    {"t4", "Tesla T4", Gib(14.56), 40, 7, 5, 4 * kMib, 1590000, 5001000, 256,
     64 * kKib},
}};

}  // namespace

std::span<const Profile> Profiles() { return kProfiles; }

const Profile* FindProfile(std::string_view key) {
  for (const Profile& profile : kProfiles) {
    if (profile.key == key) return &profile;
  }
  return nullptr;
}

}  // namespace null_gpu
