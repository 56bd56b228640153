// SPDX-License-Identifier: MIT
// The GPUs that the null GPU can stand for.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_PROFILE_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_PROFILE_H_

#include <cstddef>
#include <string_view>

namespace null_gpu {

// Figures of the SXM variants from NVIDIA's data sheets. `memory_bytes` is the
// total that cudaMemGetInfo reports on such a card, less than in the data
// sheet: the smallest figure that PyTorch has been seen to report.
struct Profile {
  std::string_view key;
  std::string_view name;  // as the driver spells it
  size_t memory_bytes;
  int multiprocessors;
  int major, minor;  // compute capability
  int l2_bytes;
  int clock_khz;  // boost
  int memory_clock_khz;
  int bus_bits;
  int shared_bytes_per_multiprocessor;
};

constexpr size_t Gib(double gib) {
  return static_cast<size_t>(gib * (1 << 30));
}
constexpr int kMib = 1 << 20;
constexpr int kKib = 1 << 10;

inline constexpr Profile kProfiles[] = {
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
};

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_CORE_PROFILE_H_
