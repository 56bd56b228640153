// SPDX-License-Identifier: MIT
// The device of device.h on a GPU (sm_80 and later), and its launcher.

#ifndef TRAINBENCH_MODEL_KERNELS_CUDA_DEVICE_CUH_
#define TRAINBENCH_MODEL_KERNELS_CUDA_DEVICE_CUH_

#include <cuda_runtime.h>

#include <string>
#include <typeinfo>

#include "model/kernels/device.h"
#include "model/kernels/launch_error.cuh"

namespace trainbench::kernels {

class CudaDevice {
 public:
  __device__ explicit CudaDevice(unsigned char* shared)
      : shared_(shared),
        base_(static_cast<uint32_t>(__cvta_generic_to_shared(shared))) {}

  TRAINBENCH_DEVICE int Thread() const { return threadIdx.x; }
  TRAINBENCH_DEVICE int Threads() const { return blockDim.x; }
  TRAINBENCH_DEVICE int64_t Block() const { return blockIdx.x; }
  TRAINBENCH_DEVICE int64_t Blocks() const { return gridDim.x; }

  TRAINBENCH_DEVICE void SyncBlock() const { __syncthreads(); }
  TRAINBENCH_DEVICE void SyncWarp() const { __syncwarp(); }

  template <class T>
  TRAINBENCH_DEVICE T Load(const T* from) const {
    return *from;
  }
  template <class T>
  TRAINBENCH_DEVICE void Store(T* to, const T& x) const {
    if constexpr (sizeof(T) == 16) {
      // Next to a branch that stores single elements, the compiler would also
      // split `*to = x` into single elements.
      uint32_t bits[4];
      std::memcpy(bits, &x, sizeof(bits));
      asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(to),
                   "r"(bits[0]), "r"(bits[1]), "r"(bits[2]), "r"(bits[3])
                   : "memory");
    } else {
      *to = x;
    }
  }
  TRAINBENCH_DEVICE void AtomicAdd(float* to, float x) const {
    asm volatile("red.global.add.f32 [%0], %1;" ::"l"(to), "f"(x) : "memory");
  }

  template <class T>
  TRAINBENCH_DEVICE T LoadShared(int at) const {
    return *reinterpret_cast<const T*>(shared_ + at);
  }
  template <class T>
  TRAINBENCH_DEVICE void StoreShared(int at, const T& x) const {
    *reinterpret_cast<T*>(shared_ + at) = x;
  }

  TRAINBENCH_DEVICE void CopyAsync16(int at, const void* from,
                                     bool valid) const {
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(base_ + at),
        "l"(from), "r"(valid ? 16 : 0)
        : "memory");
  }
  TRAINBENCH_DEVICE void Commit() const {
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  template <int groups>
  TRAINBENCH_DEVICE void Wait() const {
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
  }

  TRAINBENCH_DEVICE void LoadMatrix4(uint32_t (&r)[4], int at) const {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(base_ + at)
                 : "memory");
  }
  TRAINBENCH_DEVICE void LoadMatrix4Transposed(uint32_t (&r)[4], int at) const {
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
        : "r"(base_ + at)
        : "memory");
  }
  TRAINBENCH_DEVICE void Mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                             uint32_t b1) const {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }

  TRAINBENCH_DEVICE float ShuffleXor(float x, int mask) const {
    return __shfl_xor_sync(0xffffffffu, x, mask);
  }
  TRAINBENCH_DEVICE float Exp2(float x) const {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
  }
  TRAINBENCH_DEVICE float Exp(float x) const { return expf(x); }
  TRAINBENCH_DEVICE float Log(float x) const { return logf(x); }
  TRAINBENCH_DEVICE float Rsqrt(float x) const { return rsqrtf(x); }
  TRAINBENCH_DEVICE uint32_t Pack2(float low, float high) const {
    uint32_t r;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
  }

 private:
  unsigned char* shared_;
  uint32_t base_;
};

// The name of the struct Kernel identifies the instance in a profile.
template <class Kernel>
__global__ void __launch_bounds__(Kernel::kMaxThreads, Kernel::kBlocksPerSm)
    Run(const __grid_constant__ typename Kernel::Args args) {
  extern __shared__ __align__(128) unsigned char shared[];
  Kernel::Run(CudaDevice(shared), args);
}

class CudaLauncher {
 public:
  // An error message, or "".
  using Status = std::string;

  explicit CudaLauncher(cudaStream_t stream) : stream_(stream) {}

  static Status Invalid(const char* why) { return why; }
  static bool Ok(const Status& status) { return status.empty(); }

  template <class Kernel>
  Status Launch(const Grid& grid, const typename Kernel::Args& args) {
    const cudaError_t error = Enqueue<Kernel>(grid, args);
    if (error == cudaSuccess) return "";
    (void)cudaGetLastError();  // or the next check would report it again
    return LaunchError(error, typeid(Kernel).name(), grid);
  }

 private:
  template <class Kernel>
  cudaError_t Enqueue(const Grid& grid, const typename Kernel::Args& args) {
    // More than this must be requested for each device, so at each launch.
    constexpr int kWithoutAsking = 48 << 10;
    if (grid.shared_bytes > kWithoutAsking) {
      const cudaError_t error = cudaFuncSetAttribute(
          Run<Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize,
          grid.shared_bytes);
      if (error != cudaSuccess) return error;
    }
    Run<Kernel><<<static_cast<unsigned>(grid.blocks), grid.threads,
                  grid.shared_bytes, stream_>>>(args);
    return cudaGetLastError();
  }

  cudaStream_t stream_;
};

}  // namespace trainbench::kernels

#endif  // TRAINBENCH_MODEL_KERNELS_CUDA_DEVICE_CUH_
