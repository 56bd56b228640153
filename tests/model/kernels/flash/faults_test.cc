// SPDX-License-Identifier: MIT
// The assertions of the other tests find bugs planted in the FlashAttention
// kernels: the emulator reports an error, or the numbers are wrong.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "model/kernels/flash/attention.cuh"
#include "tests/emulator/faulty_device.h"
#include "tests/model/kernels/flash/problem.h"
#include "tests/model/kernels/tensors.h"
#include "tests/support/matchers.h"

namespace trainbench::kernels {
namespace {

using emulator::Fault;
using emulator::FaultyDevice;
using Options = FaultyDevice::Options;
using Forward = FlashBf16Forward<64>;
using Keys = FlashBf16Backward<64>;

// Two tiles of queries and four of keys, the last ones partial.
constexpr int64_t kSeq = 200;

struct SeesOneMore {
  static int LastKey(const FlashShape& shape, int query) {
    return FlashMask::LastKey(shape, query) + 1;
  }
};

template <class T>
class Trial {
 public:
  explicit Trial(Options options)
      : problem_(t_, {kDtypeOf<T>, 1, 1, kSeq, 64, true, 0.125f}),
        launcher_(&t_.memory(), 7, options) {}

  // Returns the error found in the kernel, or "".
  template <class Kernel>
  std::string RunForward() {
    const std::string error = Run<Kernel>(Kernel::kRows, problem_.forward);
    if (!error.empty()) return error;
    return Judge(problem_.forward.o, problem_.reference().o, kTolerance<T>);
  }

  template <class Kernel>
  std::string RunBackward() {
    EXPECT_EQ(FlashForward(t_.launcher(), problem_.forward), "");
    FlashBackwardArgs& a = problem_.backward;
    EXPECT_EQ(FlashBackward(t_.launcher(), a), "");
    float* sum = a.grad_q_sum;
    std::fill(sum, sum + problem_.count(), 0.0f);
    const std::string error = Run<Kernel>(Kernel::kKeys, a);
    if (!error.empty()) return error;
    const Reference& r = problem_.reference();
    for (const std::string& wrong :
         {Judge(a.grad_k, r.grad_k, 8e-3), Judge(a.grad_v, r.grad_v, 8e-3),
          JudgeSum(sum)}) {
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  template <class Kernel, class Args>
  std::string Run(int rows, const Args& args) {
    return launcher_.template Launch<Kernel>(
        FlashGrid<Kernel>(args.shape, rows), args);
  }
  std::string Judge(const HeadOutput& actual,
                    const std::vector<double>& expected, double tolerance) {
    return problem_.ErrorOf(actual, expected) < tolerance ? ""
                                                          : "wrong numbers";
  }
  std::string JudgeSum(const float* sum) {
    std::vector<double> expected = problem_.reference().grad_q;
    for (double& x : expected) x /= 0.125;
    return RelativeError(sum, expected) < 8e-3 ? "" : "wrong numbers";
  }

  Tensors t_{3};
  Problem<T> problem_;
  emulator::BasicLauncher<FaultyDevice> launcher_;
};

TEST(PlantedBug, IsNotThereByDefault) {
  EXPECT_EQ(Trial<Bf16>({}).RunForward<Forward>(), "");
  EXPECT_EQ(Trial<Bf16>({}).RunBackward<Keys>(), "");
}

// A bug, and the errors in the kernels; null: it does not matter there.
struct Planted {
  Options options;
  const char* forward = nullptr;
  const char* backward = nullptr;
};

constexpr char kRace[] = "another thread";
constexpr char kEarly[] = "a copy under way";
constexpr char kWrong[] = "wrong numbers";

// A row's maximum takes two shuffles; the shuffles of its sum come last. A
// thread's 4 rows need 1 + 16 exponentials each in every tile.
const Planted kPlanted[] = {
    {{Fault::kSkippedBarrier, 0}, kRace, kRace},
    {{Fault::kSkippedBarrier, 1}, kRace, kRace},  // all warps read the slopes
    {{Fault::kSkippedBarrier, 2}, kRace, kEarly},
    {{Fault::kSkippedBarrier, 3}, nullptr, kRace},
    {{Fault::kDivergentBarrier}, "wait for others"},
    {{Fault::kEarlyWait, 0}, kEarly, kEarly},
    {{Fault::kEarlyWait, 1}, kEarly, kEarly},
    {{Fault::kEarlyWait, 3}, kEarly, kEarly},
    {{Fault::kUncheckedTail}, "leaves the tensors"},
    {{Fault::kLostShuffle, 0}, kWrong},
    {{Fault::kForgottenShrink, 68}, kWrong},
    {{Fault::kSwappedMatrices}, kWrong, kWrong},
    {{Fault::kWrongLayout}, kWrong, kWrong},
    {{Fault::kTruncation}, kWrong},
    {{Fault::kPlainAdd}, nullptr, kRace}};

TEST(PlantedBug, IsFound) {
  for (const auto& [options, forward, backward] : kPlanted) {
    SCOPED_TRACE(testing::Message()
                 << "fault " << static_cast<int>(options.fault) << ", call "
                 << options.nth);
    if (forward != nullptr) {
      EXPECT_THAT(Trial<Bf16>(options).RunForward<Forward>(),
                  HasSubstr(forward));
    }
    if (backward != nullptr) {
      EXPECT_THAT(Trial<Bf16>(options).RunBackward<Keys>(),
                  HasSubstr(backward));
    }
  }
}

TEST(PlantedBug, MissingBarrierOfAWarpIsFound) {
  EXPECT_THAT(Trial<float>({Fault::kSkippedWarpBarrier})
                  .RunForward<FlashFp32Forward<64>>(),
              HasSubstr(kRace));
}

TEST(PlantedBug, MaskThatSeesOneMoreIsFound) {
  EXPECT_EQ((Trial<Bf16>({}).RunForward<FlashBf16Forward<64, SeesOneMore>>()),
            "wrong numbers");
  EXPECT_EQ((Trial<Bf16>({}).RunBackward<FlashBf16Backward<64, SeesOneMore>>()),
            "wrong numbers");
  EXPECT_EQ((Trial<float>({}).RunForward<FlashFp32Forward<64, SeesOneMore>>()),
            "wrong numbers");
}

}  // namespace
}  // namespace trainbench::kernels
