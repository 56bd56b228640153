// SPDX-License-Identifier: MIT
// A device that holds values.

#include <gmock/gmock.h>

#include <array>

#include "tests/tools/null_gpu/fixture.h"
#include "tools/null_gpu/null_gpu.h"

namespace null_gpu {
namespace {

using Four = std::array<int, 4>;

// The argument of the kernel below, which computes a sum.
struct Sum {
  const int* from;
  int* to;
};

void Add(const trainbench_null_gpu_launch* launch) {
  const Sum& sum = *static_cast<const Sum*>(launch->argument);
  for (unsigned i = 0; i < launch->grid[0] * launch->block[0]; ++i) {
    *sum.to += sum.from[i];
  }
}

class ValuesTest : public NullGpuTest {
 protected:
  void SetUp() override {
    NullGpuTest::SetUp();
    Set(&Settings::values, true);
    from_ = static_cast<int*>(Allocated(sizeof(Four)));
    to_ = static_cast<int*>(Allocated(sizeof(Four)));
  }

  static void Copy(void* to, const void* from) {
    ASSERT_EQ(cudaMemcpy(to, from, sizeof(Four), cudaMemcpyDefault),
              cudaSuccess);
  }
  static Four Read(const int* from) {
    Four values = {};
    Copy(values.data(), from);
    return values;
  }
  static void Write(int* to, const Four& values) { Copy(to, values.data()); }

  static cudaError_t LaunchSum(Sum sum, cudaStream_t stream) {
    static const char host = 0;
    RegisterKernel(&host, "_Z3sum3Sum");
    void* arguments[] = {&sum};
    return cudaLaunchKernel(&host, dim3(1), dim3(4), arguments, 0, stream);
  }

  int *from_ = nullptr, *to_ = nullptr;
};

TEST_F(ValuesTest, FreshMemoryIsNotANumber) {
  EXPECT_THAT(Read(from_), testing::Each(-1));
}

TEST_F(ValuesTest, CopiesCopyAndFillsFill) {
  Write(from_, {1, 2, 3, 4});
  Copy(to_, from_);
  EXPECT_EQ(Read(to_), (Four{1, 2, 3, 4}));
  ASSERT_EQ(cudaMemset(to_, 1, 8), cudaSuccess);
  EXPECT_EQ(Read(to_), (Four{0x01010101, 0x01010101, 3, 4}));
  ASSERT_EQ(Launch(nullptr), cudaSuccess);
  EXPECT_EQ(Read(from_), (Four{1, 2, 3, 4})) << "the kernel has no body";
}

TEST_F(ValuesTest, TheLastBodyCounts) {
  trainbench_null_gpu_emulate("sum(Sum", sizeof(Sum), Add);
  Write(to_, {7});
  ASSERT_EQ(LaunchSum({from_, to_}, nullptr), cudaSuccess);
  trainbench_null_gpu_emulate(
      "sum(", sizeof(Sum), [](const trainbench_null_gpu_launch* launch) {
        *static_cast<const Sum*>(launch->argument)->to = 1;
      });
  ASSERT_EQ(LaunchSum({from_, to_}, nullptr), cudaSuccess);
  EXPECT_EQ(Read(to_)[0], 1);
}

TEST_F(ValuesTest, AGraphRunsTheBodyWithTheArgumentOfTheCapture) {
  trainbench_null_gpu_emulate("sum(Sum", sizeof(Sum), Add);
  Write(to_, {});
  const cudaStream_t stream = NonBlockingStream();
  const cudaGraphExec_t exec = Captured(stream, [&] {
    ASSERT_EQ(LaunchSum({from_, to_}, stream), cudaSuccess);
  });
  EXPECT_EQ(Read(to_)[0], 0);
  for (const int first : {1, 5}) {
    Write(from_, {first, 2, 3, 4});
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  }
  EXPECT_EQ(Read(to_)[0], 10 + 14);
}

using ValuesDeathTest = ValuesTest;

TEST_F(ValuesDeathTest, BodiesNeedValues) {
  EXPECT_DEATH(
      {
        GetSettings().values = false;
        trainbench_null_gpu_emulate("sum(", sizeof(Sum), Add);
      },
      "TRAINBENCH_NULL_GPU_VALUES=1");
}

}  // namespace
}  // namespace null_gpu
