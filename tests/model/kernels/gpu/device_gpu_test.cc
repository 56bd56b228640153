// SPDX-License-Identifier: MIT
// A GPU's device behaves like the emulator's, so the results of the other
// kernel tests in the emulator also hold on the GPU.

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/emulator/global_memory.h"
#include "tests/emulator/launcher.h"
#include "tests/emulator/warp_operation.h"
#include "tests/model/kernels/emulated.h"
#include "tests/model/kernels/gpu/probes.cuh"

namespace trainbench::kernels {
namespace {

class DeviceMemory {
 public:
  explicit DeviceMemory(size_t bytes) : error_(cudaMalloc(&memory_, bytes)) {}
  ~DeviceMemory() { cudaFree(memory_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  cudaError_t error() const { return error_; }
  void* data() const { return memory_; }

 private:
  void* memory_ = nullptr;
  cudaError_t error_;
};

template <class P>
class Comparison {
 public:
  Comparison() {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (uint32_t& x : in_) x = std::bit_cast<uint32_t>(normal(random));
  }

  std::vector<uint32_t>& in() { return in_; }

  // Compares the GPU's results with the emulator's, relative to at least 1; a
  // tolerance of 0 requires equal bits.
  void Run(double tolerance) {
    std::vector<float> actual(P::kOutBytes / 4);
    ASSERT_NO_FATAL_FAILURE(RunOnDevice(actual));
    std::vector<float> expected(P::kOutBytes / 4);
    emulator::GlobalMemory memory;
    memory.Allow(in_.data(), P::kInBytes, 4, false);
    memory.Allow(expected.data(), P::kOutBytes, 4, true);
    emulator::Launcher launcher(&memory, 1);
    ASSERT_EQ(
        launcher.Launch<P>({P::kBlocks, P::kMaxThreads, kProbeSharedBytes},
                           {in_.data(), expected.data()}),
        "");
    for (size_t i = 0; i < expected.size(); ++i) {
      if (tolerance == 0) {
        EXPECT_EQ(std::bit_cast<uint32_t>(actual[i]),
                  std::bit_cast<uint32_t>(expected[i]))
            << i;
      } else {
        EXPECT_NEAR(actual[i], expected[i],
                    tolerance * std::max(1.0f, std::abs(expected[i])))
            << i;
      }
    }
  }

 private:
  void RunOnDevice(std::vector<float>& actual) {
    const DeviceMemory in(P::kInBytes);
    const DeviceMemory out(P::kOutBytes);
    ASSERT_EQ(in.error(), cudaSuccess);
    ASSERT_EQ(out.error(), cudaSuccess);
    ASSERT_EQ(
        cudaMemcpy(in.data(), in_.data(), P::kInBytes, cudaMemcpyHostToDevice),
        cudaSuccess);
    ASSERT_EQ(cudaMemset(out.data(), 0, P::kOutBytes), cudaSuccess);
    ASSERT_EQ(RunOnGpu<P>({in.data(), out.data()}), "");
    ASSERT_EQ(cudaMemcpy(actual.data(), out.data(), P::kOutBytes,
                         cudaMemcpyDeviceToHost),
              cudaSuccess);
  }

  std::vector<uint32_t> in_ = std::vector<uint32_t>(P::kInBytes / 4);
};

class CudaDeviceConformance : public testing::Test {
 protected:
  // A null GPU uses the emulator: the test then covers all but the device.
  static void SetUpTestSuite() { EmulatedKernels::Install(); }

  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
      GTEST_SKIP() << "no CUDA device";
    }
  }
};

TEST_F(CudaDeviceConformance, Mma) {
  Comparison<MmaProbe> c;
  // Operands must be valid bf16, not arbitrary halves of floats.
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  for (int thread = 0; thread < 128; ++thread) {
    for (int i = 0; i < 6; ++i) {
      const uint32_t low = emulator::RoundToBf16(normal(random));
      c.in()[10 * thread + i] =
          low | static_cast<uint32_t>(emulator::RoundToBf16(normal(random)))
                    << 16;
    }
  }
  c.Run(3e-5);
}

TEST_F(CudaDeviceConformance, LoadMatrix) {
  Comparison<LoadMatrixProbe>().Run(0);
}

TEST_F(CudaDeviceConformance, CopyAsync) { Comparison<CopyProbe>().Run(0); }

TEST_F(CudaDeviceConformance, ShuffleXor) { Comparison<ShuffleProbe>().Run(0); }

TEST_F(CudaDeviceConformance, Functions) { Comparison<MathProbe>().Run(2e-6); }

TEST_F(CudaDeviceConformance, BarriersAndAtomics) {
  Comparison<ReduceProbe>().Run(1e-6);
}

}  // namespace
}  // namespace trainbench::kernels
