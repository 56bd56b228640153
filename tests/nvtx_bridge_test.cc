// SPDX-License-Identifier: MIT

#include "fixtures/nvtx_bridge.h"

#include <ATen/record_function.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "fixtures/range.h"

namespace trainbench {
namespace {

// A process asks for its NVTX tool once, so one fixture attaches it.
class NvtxBridgeTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string recorder = TRAINBENCH_NVTX_RECORDER;
    if (recorder.empty()) return;
    { const Range before("before"); }
    setenv("NVTX_INJECTION64_PATH", recorder.c_str(), /*overwrite=*/1);
    installed_ = InstallNvtxBridge();
    void* tool = dlopen(recorder.c_str(), RTLD_NOW);
    ASSERT_NE(tool, nullptr) << dlerror();
    take_log_ = reinterpret_cast<const char* (*)()>(dlsym(tool, "TakeNvtxLog"));
    ASSERT_NE(take_log_, nullptr);
  }
  void SetUp() override {
    if (take_log_ == nullptr) GTEST_SKIP() << "built without NVTX";
    take_log_();
  }
  static std::string TakeLog() { return take_log_(); }

  static inline bool installed_ = false;
  static inline const char* (*take_log_)() = nullptr;
};

TEST_F(NvtxBridgeTest, IsInstalledWhereAToolIsAttached) {
  EXPECT_TRUE(installed_);
  EXPECT_TRUE(InstallNvtxBridge());
}

TEST_F(NvtxBridgeTest, ARangeHasItsNameOnceThoughInstalledTwice) {
  InstallNvtxBridge();
  {
    const Range outer("outer");
    const Range inner("inner/batch:4");
  }
  EXPECT_EQ(TakeLog(), "push outer\npush inner/batch:4\npop\npop\n");
}

TEST_F(NvtxBridgeTest, OperatorsAreNotRanges) {
  at::ones({2}).neg();
  EXPECT_EQ(TakeLog(), "");
}

TEST_F(NvtxBridgeTest, AnotherThreadsRangesAreShown) {
  std::thread([] { const Range range("there"); }).join();
  EXPECT_EQ(TakeLog(), "push there\npop\n");
}

// Opens a range where autograd runs its node.
class Ranged : public torch::autograd::Function<Ranged> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext*,
                            const at::Tensor& x) {
    return x.clone();
  }
  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext*, torch::autograd::variable_list grad) {
    const Range range("node");
    return grad;
  }
};

TEST_F(NvtxBridgeTest, RangesInTheBackwardPassAreBalanced) {
  const at::Tensor x = at::ones({2}).requires_grad_();
  {
    const Range range("backward");
    Ranged::apply(x).sum().backward();
  }
  EXPECT_EQ(TakeLog(), "push backward\npush node\npop\npop\n");
}

TEST_F(NvtxBridgeTest, AnAsynchronousScopeIsLeftOut) {
  at::RecordFunction scope(at::RecordScope::USER_SCOPE);
  ASSERT_TRUE(scope.isActive());
  scope._setAsync();
  scope.before(std::string("collective"));
  std::thread([&] { scope.end(); }).join();
  EXPECT_EQ(TakeLog(), "");
}

}  // namespace
}  // namespace trainbench
