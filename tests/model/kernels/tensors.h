// SPDX-License-Identifier: MIT
// The tensors of kernel tests, and the emulator that runs the kernels.

#ifndef TRAINBENCH_TESTS_MODEL_KERNELS_TENSORS_H_
#define TRAINBENCH_TESTS_MODEL_KERNELS_TENSORS_H_

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "model/kernels/device.h"
#include "tests/emulator/global_memory.h"
#include "tests/emulator/launcher.h"
#include "tests/emulator/warp_operation.h"

namespace trainbench::kernels {

inline double ToFloat(double x) { return x; }
inline float ToFloat(float x) { return x; }
inline float ToFloat(Bf16 x) { return emulator::FromBf16(x.bits); }
inline void Set(float& to, double x) { to = static_cast<float>(x); }
inline void Set(Bf16& to, double x) {
  to.bits = emulator::RoundToBf16(static_cast<float>(x));
}

template <class T>
inline constexpr Dtype kDtypeOf = Dtype::kFloat32;
template <>
inline constexpr Dtype kDtypeOf<Bf16> = Dtype::kBfloat16;

// Memory with random inputs and poisoned outputs. Its tensors live as long as
// it does and are 16-byte aligned, or `misalign` elements past that.
class Tensors {
 public:
  explicit Tensors(uint32_t seed, int misalign = 0)
      : random_(seed), misalign_(misalign) {}

  // Normally distributed numbers with standard deviation `scale`.
  template <class T>
  const T* Input(int64_t count, double scale = 1) {
    return Filled<T>(count, scale, /*writable=*/false);
  }
  template <class T>
  T* InPlace(int64_t count, double scale = 1) {
    return Filled<T>(count, scale, /*writable=*/true);
  }
  template <class T>
  T* Output(int64_t count) {
    T* const made = New<T>(count, /*writable=*/true);
    for (int64_t i = 0; i < count; ++i) Set(made[i], std::nan(""));
    return made;
  }
  // Random integers in [0, limit).
  const int64_t* Indices(int64_t count, int64_t limit) {
    int64_t* const made = New<int64_t>(count, /*writable=*/false);
    for (int64_t i = 0; i < count; ++i) made[i] = random_() % limit;
    return made;
  }

  emulator::GlobalMemory& memory() { return memory_; }
  emulator::Launcher& launcher() { return launcher_; }

 private:
  struct Free {
    void operator()(void* block) const { std::free(block); }
  };

  template <class T>
  T* New(int64_t count, bool writable) {
    const int64_t bytes = (count + misalign_) * sizeof(T);
    blocks_.emplace_back(std::aligned_alloc(128, (bytes + 127) / 128 * 128));
    T* const made = static_cast<T*>(blocks_.back().get()) + misalign_;
    memory_.Allow(made, count * sizeof(T), sizeof(T), writable);
    return made;
  }
  template <class T>
  T* Filled(int64_t count, double scale, bool writable) {
    T* const made = New<T>(count, writable);
    std::normal_distribution<double> normal(0, scale);
    for (int64_t i = 0; i < count; ++i) Set(made[i], normal(random_));
    return made;
  }

  std::mt19937 random_;
  int misalign_;
  std::vector<std::unique_ptr<void, Free>> blocks_;
  emulator::GlobalMemory memory_;
  emulator::Launcher launcher_{&memory_, random_()};
};

template <class T>
std::vector<double> Doubles(const T* from, int64_t count) {
  std::vector<double> made(count);
  for (int64_t i = 0; i < count; ++i) made[i] = ToFloat(from[i]);
  return made;
}

// |actual - expected| / |expected|, in Euclidean norms; NaN if any is NaN.
template <class T>
double RelativeError(const T* actual, const std::vector<double>& expected) {
  double error = 0;
  double norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double miss = ToFloat(actual[i]) - expected[i];
    error += miss * miss;
    norm += expected[i] * expected[i];
  }
  return std::sqrt(error) / std::max(std::sqrt(norm), 1e-30);
}

// The error allowed for rounding the result and for sums in fp32.
template <class T>
inline constexpr double kTolerance = 2e-6;
template <>
inline constexpr double kTolerance<Bf16> = 4e-3;

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_TESTS_MODEL_KERNELS_TENSORS_H_
