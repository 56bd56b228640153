// SPDX-License-Identifier: MIT
// fp32 vectors of the CPU's width. A kernel is written once for all widths and
// compiled for each; Run() selects the widest that the CPU supports.
//
// LibTorch's at::vec selects its width by compiler flags for a whole file. They
// also apply to everything that the file includes, and if the linker keeps its
// copy of an inline function, the program crashes on an older CPU. Here,
// attributes compile only the kernels for newer CPUs.

#ifndef TRAINBENCH_MODEL_FUSED_CPU_SIMD_H_
#define TRAINBENCH_MODEL_FUSED_CPU_SIMD_H_

#include <c10/util/BFloat16.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

// Inlined into a function for a newer CPU, so it is compiled for that CPU.
#define TRAINBENCH_SIMD inline __attribute__((always_inline))

#define TRAINBENCH_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define TRAINBENCH_AVX2 __attribute__((target("avx2,fma")))

// How functions return vectors depends on the CPU, but all of ours are inlined.
// Ignored for the rest of the file, since kernels return vectors, too. (g++
// would still warn about vectors that are passed by value.)
#pragma GCC diagnostic ignored "-Wpsabi"

namespace trainbench::simd {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kMinusInfinity = -kInfinity;

// Operations on kBytes of fp32. Loads and stores take the number of elements, 1
// to kLanes; other lanes are 0. bf16 is converted to and from fp32, rounding to
// nearest even.
template <int kBytes>
struct Vector {
  static constexpr int kLanes = kBytes / 4;

  using Floats [[gnu::vector_size(kBytes)]] = float;
  using Half [[gnu::vector_size(kBytes / 2)]] = float;
  using Ints [[gnu::vector_size(kBytes)]] = int32_t;
  using Shorts [[gnu::vector_size(kBytes / 2)]] = uint16_t;

  TRAINBENCH_SIMD static Floats Broadcast(float x) { return x - Floats{}; }

  template <typename V, typename T>
  TRAINBENCH_SIMD static V Read(const T* from, int count) {
    V x{};
    if (count == kLanes) {
      std::memcpy(&x, from, sizeof(V));
    } else {
      std::memcpy(&x, from, static_cast<std::size_t>(count) * sizeof(T));
    }
    return x;
  }

  template <typename V, typename T>
  TRAINBENCH_SIMD static void Write(T* to, const V& x, int count) {
    if (count == kLanes) {
      std::memcpy(to, &x, sizeof(V));
    } else {
      std::memcpy(to, &x, static_cast<std::size_t>(count) * sizeof(T));
    }
  }

  TRAINBENCH_SIMD static Floats Load(const float* from, int count) {
    return Read<Floats>(from, count);
  }
  TRAINBENCH_SIMD static Floats Load(const c10::BFloat16* from, int count) {
    const Shorts bits = Read<Shorts>(from, count);
    return (Floats)(Convert<Ints>(bits) << 16);
  }

  TRAINBENCH_SIMD static void Store(float* to, const Floats& x, int count) {
    Write(to, x, count);
  }
  TRAINBENCH_SIMD static void Store(c10::BFloat16* to, const Floats& x,
                                    int count) {
    Write(to, Convert<Shorts>((Rounded(x) >> 16) & 0xffff), count);
  }

  // The upper half of each lane is `x` in bf16, rounded to nearest even; the
  // lower half is arbitrary.
  TRAINBENCH_SIMD static Ints Rounded(const Floats& x) {
    const Ints bits = (Ints)x;
    const Ints rounded = bits + 0x7fff + ((bits >> 16) & 1);
    return x == x ? rounded : bits | 0x400000;  // NaN stays NaN
  }

  TRAINBENCH_SIMD static Floats Max(const Floats& a, const Floats& b) {
    return a > b ? a : b;
  }

  // Reductions over all lanes.
  TRAINBENCH_SIMD static float Sum(const Floats& x) {
    float lanes[kLanes];
    std::memcpy(lanes, &x, sizeof(x));
    for (int width = kLanes / 2; width > 0; width /= 2) {
      for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
    }
    return lanes[0];
  }
  TRAINBENCH_SIMD static float Largest(const Floats& x) {
    float lanes[kLanes];
    std::memcpy(lanes, &x, sizeof(x));
    for (int i = 1; i < kLanes; ++i) {
      lanes[0] = lanes[i] > lanes[0] ? lanes[i] : lanes[0];
    }
    return lanes[0];
  }

  // `value` in the first `count` lanes, `other` in the rest.
  TRAINBENCH_SIMD static Floats Keep(const Floats& value, int count,
                                     float other) {
    if (count == kLanes) return value;
    return Iota() < count ? value : Broadcast(other);
  }

  // e^x, to 2 units in the last place. 0 below -87, near the smallest normal
  // fp32 number; infinite above 88. NaN stays NaN. Computed as 2^n e^r with |r|
  // <= ln 2 / 2 and a polynomial for e^r with minimal maximum relative error.
  TRAINBENCH_SIMD static Floats Exp(const Floats& x) {
    // Adding 1.5 * 2^23 leaves the rounded number in the low bits.
    const Floats shifted = x * 1.44269504F + 12582912.0F;
    const Floats n = shifted - 12582912.0F;
    const Floats r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
    Floats p = r * 1.38145383e-3F + 8.36874545e-3F;
    p = p * r + 4.16683890e-2F;
    p = p * r + 0.166665211F;
    p = p * r + 0.499999940F;
    p = p * (r * r) + r + 1.0F;
    const Ints power = ((Ints)shifted - 0x4b400000 + 127) << 23;
    const Floats result = p * (Floats)power;
    const Floats bounded = x > 88.0F ? Broadcast(kInfinity) : result;
    return x < -87.0F ? Floats{} : bounded;
  }

  // 1 / (1 + e^-x).
  TRAINBENCH_SIMD static Floats Sigmoid(const Floats& x) {
    return 1.0F / (1.0F + Exp(-x));
  }

  // For adjacent channel pairs: LoadTwice loads each of count / 2 elements
  // twice, SwapPairs swaps the lanes of a pair, PairSigns is -1, 1, -1, 1, ...
  TRAINBENCH_SIMD static Floats LoadTwice(const float* from, int count) {
    Half x{};
    std::memcpy(&x, from,
                count == kLanes
                    ? sizeof(x)
                    : static_cast<std::size_t>(count / 2) * sizeof(float));
    return Shuffle(
        x, [](int i) { return i / 2; }, kAll);
  }
  TRAINBENCH_SIMD static Floats SwapPairs(const Floats& x) {
    return Shuffle(
        x, [](int i) { return i ^ 1; }, kAll);
  }
  TRAINBENCH_SIMD static Floats PairSigns() {
    return (Iota() & 1) == 1 ? Broadcast(1.0F) : Broadcast(-1.0F);
  }

 private:
  template <typename To, typename From>
  TRAINBENCH_SIMD static To Convert(const From& x) {
    return __builtin_convertvector(x, To);
  }

  static constexpr auto kAll = std::make_integer_sequence<int, kLanes>();

  template <typename V, typename Of, int... i>
  TRAINBENCH_SIMD static Floats Shuffle(const V& x, Of,
                                        std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(x, x, Of{}(i)...);
  }
  template <int... i>
  TRAINBENCH_SIMD static Ints IotaOf(std::integer_sequence<int, i...>) {
    return Ints{i...};
  }
  TRAINBENCH_SIMD static Ints Iota() { return IotaOf(kAll); }
};

// The bytes of a vector: 64, 32 or 16, from at::get_cpu_capability(), so the
// environment variable ATEN_CPU_CAPABILITY can reduce it.
int WidthInUse();

template <typename Kernel, typename... Args>
TRAINBENCH_AVX512 void Run512(const Args&... args) {
  Kernel::template Run<Vector<64>>(args...);
}
template <typename Kernel, typename... Args>
TRAINBENCH_AVX2 void Run256(const Args&... args) {
  Kernel::template Run<Vector<32>>(args...);
}

// Calls Kernel::Run<V>(args...), a TRAINBENCH_SIMD function, for WidthInUse().
template <typename Kernel, typename... Args>
void Run(const Args&... args) {
  switch (WidthInUse()) {
    case 64:
      return Run512<Kernel>(args...);
    case 32:
      return Run256<Kernel>(args...);
    default:
      return Kernel::template Run<Vector<16>>(args...);
  }
}

// The number of elements from index `i` on that fit into one vector.
template <typename V>
TRAINBENCH_SIMD int Count(int64_t size, int64_t i) {
  return size - i < V::kLanes ? static_cast<int>(size - i) : V::kLanes;
}

}  // namespace trainbench::simd

#endif  // TRAINBENCH_MODEL_FUSED_CPU_SIMD_H_
