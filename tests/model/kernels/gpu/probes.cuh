// SPDX-License-Identifier: MIT
// Kernels of one primitive each, for a GPU and the emulator.

#ifndef TRAINBENCH_TESTS_MODEL_KERNELS_GPU_PROBES_CUH_
#define TRAINBENCH_TESTS_MODEL_KERNELS_GPU_PROBES_CUH_

#include <string>

#include "model/kernels/device.h"
#include "model/kernels/reduce.cuh"

namespace trainbench::kernels {

// Each kernel reads kInBytes of `in` and writes kOutBytes of `out`.
struct ProbeArgs {
  const void* in;
  void* out;
};

inline constexpr int kProbeSharedBytes = 4096;

// Runs the probe P on the GPU, on the legacy stream. Returns an error message,
// or "".
template <class P>
std::string RunOnGpu(const ProbeArgs& args);

struct Probe {
  using Args = ProbeArgs;
  static constexpr int kMaxThreads = 128;
  static constexpr int kBlocksPerSm = 1;
  static constexpr int kBlocks = 1;

  template <class T>
  static TRAINBENCH_DEVICE const T* In(const Args& a) {
    return static_cast<const T*>(a.in);
  }
  template <class T>
  static TRAINBENCH_DEVICE T* Out(const Args& a) {
    return static_cast<T*>(a.out);
  }
};

// Computes c from the bf16 pairs a[4], b[2] and the floats c[4] of each lane.
struct MmaProbe : Probe {
  static constexpr int kInBytes = 40 * 128;
  static constexpr int kOutBytes = 16 * 128;
  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& args) {
    const uint32_t* in = In<uint32_t>(args) + 10 * d.Thread();
    uint32_t a[4];
    float c[4];
    for (int i = 0; i < 4; ++i) a[i] = d.Load(in + i);
    for (int i = 0; i < 4; ++i) {
      c[i] = d.Load(reinterpret_cast<const float*>(in + 6 + i));
    }
    d.Mma(c, a, d.Load(in + 4), d.Load(in + 5));
    for (int i = 0; i < 4; ++i)
      d.Store(Out<float>(args) + 4 * d.Thread() + i, c[i]);
  }
};

// Copies 128 rows of 8 bf16 by cp.async to shared memory in another order, and
// by ldmatrix and its transposed form to registers.
struct LoadMatrixProbe : Probe {
  static constexpr int kInBytes = 16 * 128;
  static constexpr int kOutBytes = 32 * 128;
  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& args) {
    const int thread = d.Thread();
    d.CopyAsync16(16 * (thread ^ 5), In<char>(args) + 16 * thread, true);
    d.Commit();
    d.template Wait<0>();
    d.SyncBlock();
    uint32_t plain[4];
    uint32_t transposed[4];
    d.LoadMatrix4(plain, 16 * (thread ^ 3));
    d.LoadMatrix4Transposed(transposed, 16 * (thread ^ 64));
    uint32_t* out = Out<uint32_t>(args) + 8 * thread;
    for (int i = 0; i < 4; ++i) {
      d.Store(out + i, plain[i]);
      d.Store(out + 4 + i, transposed[i]);
    }
  }
};

// Two groups of copies, a third of them zero-filled; the first is read while
// the second is in flight.
struct CopyProbe : Probe {
  static constexpr int kInBytes = 32 * 128;
  static constexpr int kOutBytes = 32 * 128;
  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& args) {
    const int thread = d.Thread();
    for (int group = 0; group < 2; ++group) {
      const int at = 16 * (128 * group + thread);
      d.CopyAsync16(at, In<char>(args) + at, thread % 3 != group);
      d.Commit();
    }
    for (int group = 0; group < 2; ++group) {
      if (group == 0) d.template Wait<1>();
      if (group == 1) d.template Wait<0>();
      d.SyncBlock();
      const int from = 16 * (128 * group + 127 - thread);
      d.Store(Out<Vector<float, 4>>(args) + 128 * group + thread,
              d.template LoadShared<Vector<float, 4>>(from));
    }
  }
};

struct ShuffleProbe : Probe {
  static constexpr int kInBytes = 4 * 128;
  static constexpr int kOutBytes = 4 * 5 * 128;
  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& args) {
    const float x = d.Load(In<float>(args) + d.Thread());
    for (int i = 0; i < 5; ++i) {
      d.Store(Out<float>(args) + 128 * i + d.Thread(), d.ShuffleXor(x, 1 << i));
    }
  }
};

// The mathematical functions, and the rounding of Pack2.
struct MathProbe : Probe {
  static constexpr int kInBytes = 4 * 128;
  static constexpr int kOutBytes = 4 * 5 * 128;
  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& args) {
    const float x = d.Load(In<float>(args) + d.Thread());
    const float positive = x < 0 ? -x : x;
    const uint32_t packed = d.Pack2(x, positive);
    const Bf16 high{static_cast<uint16_t>(packed >> 16)};
    const Bf16 low{static_cast<uint16_t>(packed)};
    const float results[5] = {d.Exp2(x), d.Exp(x), d.Log(positive),
                              d.Rsqrt(positive), Widen(low) + 4 * Widen(high)};
    for (int i = 0; i < 5; ++i) {
      d.Store(Out<float>(args) + 128 * i + d.Thread(), results[i]);
    }
  }
};

// Reductions over a block and, through atomics, over blocks; warp barriers.
struct ReduceProbe : Probe {
  static constexpr int kBlocks = 4;
  static constexpr int kInBytes = 4 * 128;
  static constexpr int kOutBytes = 4 * (1 + 2 * 128);
  template <class D>
  static TRAINBENCH_DEVICE void Run(const D& d, const Args& args) {
    const int thread = d.Thread();
    const float x = d.Load(In<float>(args) + thread);
    const float sum = BlockReduce<Sum>(d, x, 0);
    const float top = BlockReduce<Max>(d, x, kReduceBytes);
    float* out = Out<float>(args);
    d.AtomicAdd(out, static_cast<float>(thread));
    d.StoreShared(2 * kReduceBytes + 4 * thread, x);
    d.SyncWarp();
    const auto other =
        d.template LoadShared<float>(2 * kReduceBytes + 4 * (thread ^ 1));
    if (d.Block() != 2) return;
    d.Store(out + 1 + thread, sum + top);
    d.Store(out + 129 + thread, other);
  }
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_TESTS_MODEL_KERNELS_GPU_PROBES_CUH_
