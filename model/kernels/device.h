// SPDX-License-Identifier: MIT
// The interface that kernels are written against. A kernel is a struct with a
// static function Run(d, args), a template over the device d: CudaDevice
// (cuda_device.cuh) for nvcc, the emulator (tests/emulator) for g++. C++17,
// because nvcc compiles it.
//
// A device has, in a one-dimensional launch:
//
// - Thread(), Threads(), Block(), Blocks(): indices and sizes.
// - SyncBlock(), SyncWarp(): barriers that order shared memory.
// - Load(p), Store(p, x): global memory, aligned to the size of the type.
// - AtomicAdd(p, x): fp32 in global memory.
// - LoadShared<T>(at), StoreShared(at, x): shared memory at byte `at`, for
//   types of at least 4 bytes.
// - CopyAsync16(at, p, valid): starts a copy of 16 bytes from global to shared
//   memory, or of zeros if not valid. Commit() ends a group of copies;
//   Wait<n>() waits until at most n groups are in flight.
// - LoadMatrix4(r, at): four 8x8 matrices of 16-bit elements, like ldmatrix.x4;
//   LoadMatrix4Transposed(r, at): the same, each transposed.
// - Mma(c, a, b0, b1): c += a b, m16n8k16, bf16 with fp32 sums.
// - ShuffleXor(x, mask): among the lanes of a warp.
// - Exp2(x), Exp(x), Log(x), Rsqrt(x): Exp2 is the hardware's approximation.
// - Pack2(low, high): two rounded bf16 in 32 bits.

#ifndef TRAINBENCH_MODEL_KERNELS_DEVICE_H_
#define TRAINBENCH_MODEL_KERNELS_DEVICE_H_

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define TRAINBENCH_DEVICE __device__ __forceinline__
#define TRAINBENCH_HOST_DEVICE __host__ __device__ inline
#define TRAINBENCH_UNROLL _Pragma("unroll")
#define TRAINBENCH_PRAGMA(text) _Pragma(#text)
#define TRAINBENCH_UNROLL_BY(times) TRAINBENCH_PRAGMA(unroll times)
#else
#define TRAINBENCH_DEVICE inline
#define TRAINBENCH_HOST_DEVICE inline
#define TRAINBENCH_UNROLL
#define TRAINBENCH_UNROLL_BY(times)
#endif

namespace trainbench::kernels {

enum class Dtype { kFloat32, kBfloat16 };

// The bits of a bfloat16 number.
struct Bf16 {
  uint16_t bits;
};

// Elements that one instruction loads or stores.
template <class T, int n>
struct alignas(sizeof(T) * n) Vector {
  T at[n];
};

// The number of elements in 16 bytes.
template <class T>
inline constexpr int kVectorOf = 16 / sizeof(T);

inline constexpr int kWarp = 32;

TRAINBENCH_DEVICE float Widen(float x) { return x; }

TRAINBENCH_DEVICE float Widen(Bf16 x) {
  const uint32_t bits = static_cast<uint32_t>(x.bits) << 16;
  float wide;
  std::memcpy(&wide, &bits, sizeof(wide));
  return wide;
}

template <class D>
TRAINBENCH_DEVICE void Narrow(const D&, float from, float& to) {
  to = from;
}

template <class D>
TRAINBENCH_DEVICE void Narrow(const D& d, float from, Bf16& to) {
  to.bits = static_cast<uint16_t>(d.Pack2(from, 0));
}

template <class D, class T, int n>
TRAINBENCH_DEVICE void LoadWide(const D& d, const T* from, float (&to)[n]) {
  const auto raw = d.Load(reinterpret_cast<const Vector<T, n>*>(from));
  TRAINBENCH_UNROLL
  for (int i = 0; i < n; ++i) to[i] = Widen(raw.at[i]);
}

template <class D, class T, int n>
TRAINBENCH_DEVICE void StoreNarrow(const D& d, T* to, const float (&from)[n]) {
  Vector<T, n> raw;
  TRAINBENCH_UNROLL
  for (int i = 0; i < n; ++i) Narrow(d, from[i], raw.at[i]);
  d.Store(reinterpret_cast<Vector<T, n>*>(to), raw);
}

TRAINBENCH_HOST_DEVICE int CeilDivide(int64_t x, int by) {
  return static_cast<int>((x + by - 1) / by);
}

template <class T>
constexpr bool IsAligned(const T* pointer, int64_t bytes) {
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

// Launch geometry: the number of blocks, and the threads and bytes of dynamic
// shared memory per block.
struct Grid {
  int64_t blocks;
  int threads;
  int shared_bytes;
};

inline constexpr int64_t kMaxBlocks = 0x7fffffff;

// Whether a multiprocessor of sm_90 has enough shared memory for `blocks`
// blocks at a time.
constexpr bool FitTogether(int blocks, int shared_bytes) {
  return blocks * (shared_bytes + 1024) <= 228 << 10;
}

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_DEVICE_H_
