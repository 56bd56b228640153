// SPDX-License-Identifier: MIT

#include "fixtures/operator_stack.h"

#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace trainbench {
namespace {

// An operator's frame, as the dispatcher opens one.
class Frame {
 public:
  explicit Frame(const char* name) : record_(at::RecordScope::FUNCTION) {
    if (record_.isActive()) record_.before(name);
  }

 private:
  at::RecordFunction record_;
};

TEST(OperatorStackTest, IsTheInnermostThatDoesMoreThanAllocate) {
  const OperatorScope scope;
  EXPECT_EQ(CurrentOperator(), "");
  const Frame outer("aten::linear");
  EXPECT_EQ(CurrentOperator(), "aten::linear");
  {
    const Frame inner("aten::mm");
    EXPECT_EQ(CurrentOperator(), "aten::mm");
    for (const char* helper : {"aten::empty", "aten::empty_strided",
                               "aten::new_empty", "aten::resize_"}) {
      const Frame allocator(helper);
      EXPECT_EQ(CurrentOperator(), "aten::mm");
    }
  }
  EXPECT_EQ(CurrentOperator(), "aten::linear");
}

TEST(OperatorStackTest, AnAllocatorAloneIsNamed) {
  const OperatorScope scope;
  const Frame like("aten::empty_like");
  const Frame strided("aten::empty_strided");
  EXPECT_EQ(CurrentOperator(), "aten::empty_strided");
}

TEST(OperatorStackTest, ANodeIsNamedWithWhatItCallsAndAlone) {
  const OperatorScope scope;
  const Frame caller("aten::_backward");
  const Frame node("autograd::engine::evaluate_function: MmBackward0");
  EXPECT_EQ(CurrentOperator(), "MmBackward0");
  const Frame op("aten::mm");
  EXPECT_EQ(CurrentOperator(), "aten::mm (MmBackward0)");
}

TEST(OperatorStackTest, ThisVersionsEngineUsesThatName) {
  std::string seen;
  const at::Tensor x = at::ones({3}).requires_grad_(true);
  x.register_hook([&](const at::Tensor&) { seen = CurrentOperator(); });
  const at::Tensor y = x * 2;
  {
    const OperatorScope scope;
    y.sum().backward();
  }
  EXPECT_EQ(seen, "torch::autograd::AccumulateGrad");
}

TEST(OperatorStackTest, NothingIsFollowedOutsideTheScope) {
  {
    const OperatorScope scope;
    EXPECT_TRUE(at::hasThreadLocalCallbacks());
    std::string elsewhere = "not run";
    std::thread([&] {
      const Frame frame("aten::mm");
      elsewhere = CurrentOperator();
    }).join();
    EXPECT_EQ(elsewhere, "");
  }
  EXPECT_FALSE(at::hasThreadLocalCallbacks());
  const Frame frame("aten::mm");
  EXPECT_EQ(CurrentOperator(), "");
}

TEST(OperatorStackTest, FramesThatOutliveTheScopeOrThrowLeaveNothing) {
  try {
    const OperatorScope scope;
    const Frame frame("aten::mm");
    throw std::domain_error("in an operator");
  } catch (const std::domain_error&) {
  }
  EXPECT_EQ(CurrentOperator(), "");
  {
    std::optional<OperatorScope> scope(std::in_place);
    const Frame frame("aten::mm");
    scope.reset();
    EXPECT_EQ(CurrentOperator(), "aten::mm");
  }
  EXPECT_EQ(CurrentOperator(), "");
}

}  // namespace
}  // namespace trainbench
