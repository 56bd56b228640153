// SPDX-License-Identifier: MIT

#include "benchmarks/fused_ops/fused_ops.h"

#include <torch/types.h>

#include <optional>
#include <vector>

#include "tests/support/matchers.h"

namespace trainbench {
namespace {

ModelConfig Config() {
  return {.name = "m",
          .d_model = 24,
          .d_ff = 50,
          .layers = 1,
          .heads = 3,
          .vocab = 70};
}

TEST(FusedOpCallTest, EveryImplementationPassesItsCheckAndAgain) {
  for (const FusedOp op : FusedOpName.values()) {
    for (const Implementation implementation : kImplementations) {
      if (!FusedOpUnavailable(op, implementation, DeviceKind::kCpu, Config())
               .empty()) {
        continue;
      }
      for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
        at::manual_seed(1);
        FusedOpCall call(op, implementation, Config(), 2, 9,
                         at::TensorOptions().dtype(dtype));
        for (int time = 0; time < 2; ++time) {
          EXPECT_EQ(call.Verify(), absl::OkStatus())
              << FusedOpName(op) << " " << ImplementationName(implementation)
              << " " << dtype;
        }
      }
    }
  }
}

TEST(FusedOpCallTest, RestoreGivesOverwrittenInputsTheirValuesAgain) {
  for (const FusedOp op : FusedOpName.values()) {
    FusedOpCall call(op, Implementation::kFused, Config(), 2, 9, at::kFloat);
    const std::vector<at::Tensor> first = call.Backward(call.Forward());
    call.Restore();
    const std::vector<at::Tensor> second = call.Backward(call.Forward());
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_TRUE(second[i].equal(first[i])) << FusedOpName(op) << " " << i;
    }
  }
}

TEST(FusedOpCallTest, LibTorchHasNoRotationNorHaveLearnedPositions) {
  using enum Implementation;
  const auto is_available = [](FusedOp op, Implementation implementation,
                               Positions positions) {
    ModelConfig config = Config();
    config.positions = positions;
    return FusedOpUnavailable(op, implementation, DeviceKind::kCpu, config)
        .empty();
  };
  for (const FusedOp op : FusedOpName.values()) {
    const bool is_other = op != FusedOp::kRope;
    EXPECT_TRUE(is_available(op, kTextbook, Positions::kRope));
    EXPECT_TRUE(is_available(op, kFused, Positions::kRope));
    EXPECT_EQ(is_available(op, kLibrary, Positions::kRope), is_other);
    EXPECT_EQ(is_available(op, kFused, Positions::kLearned), is_other);
  }
}

TEST(FusedOpCallTest, OnAGpuANormHasALimit) {
  const auto why = [](FusedOp op, Implementation implementation) {
    return FusedOpUnavailable(op, implementation, DeviceKind::kCuda,
                              {.name = "m", .d_model = 8200});
  };
  using enum Implementation;
  EXPECT_THAT(why(FusedOp::kAddRmsNorm, kFused), HasSubstr("d_model is 8200"));
  EXPECT_EQ(why(FusedOp::kAddRmsNorm, kLibrary), "");
  EXPECT_EQ(why(FusedOp::kSwiglu, kFused), "");
}

// Tensors counted by hand, for 2 sequences of 9 tokens in bf16.
TEST(FusedOpBytesTest, CountsEachTensorOnce) {
  const auto bytes = [](FusedOp op, std::optional<Phase> phase) {
    return FusedOpBytes(op, phase, Config(), 2, 9, 2);
  };
  constexpr double kModel = 2.0 * 18 * 24, kHidden = 2.0 * 18 * 50;
  EXPECT_EQ(bytes(FusedOp::kAddRmsNorm, Phase::kForward), 4 * kModel);
  EXPECT_EQ(bytes(FusedOp::kAddRmsNorm, Phase::kBackward), 4 * kModel);
  EXPECT_EQ(bytes(FusedOp::kRope, Phase::kForward), 4 * kModel);
  EXPECT_EQ(bytes(FusedOp::kSwiglu, Phase::kForward), 3 * kHidden);
  EXPECT_EQ(bytes(FusedOp::kSwiglu, {}), 8 * kHidden);
  constexpr double kScores = 2.0 * 2 * 3 * 9 * 9;
  EXPECT_EQ(bytes(FusedOp::kCausalSoftmax, Phase::kForward), 1.5 * kScores);
  EXPECT_EQ(bytes(FusedOp::kCausalSoftmax, Phase::kBackward), 2 * kScores);
  EXPECT_EQ(bytes(FusedOp::kCrossEntropy, {}), 2 * 2.0 * 18 * 70);
}

}  // namespace
}  // namespace trainbench
