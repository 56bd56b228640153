// SPDX-License-Identifier: MIT
// The phases of one training step, made visible to whoever measures it.

#ifndef TRAINBENCH_MODEL_SPEC_PHASE_H_
#define TRAINBENCH_MODEL_SPEC_PHASE_H_

#include <array>
#include <cstddef>

#include "absl/strings/string_view.h"

namespace trainbench {

// In the order of a step. kCommunication, which only steps of several ranks
// enter, is what of the exchange of gradients was not hidden behind the
// backward pass. Releasing the gradients belongs to the last phase of the step
// that made them.
enum class Phase { kForward, kLoss, kBackward, kCommunication, kOptimizer };

inline constexpr std::size_t kPhaseCount = 5;
inline constexpr std::array<Phase, kPhaseCount> kPhases = {
    Phase::kForward, Phase::kLoss, Phase::kBackward, Phase::kCommunication,
    Phase::kOptimizer};

// "forward", "loss", "backward", "communication", "optimizer".
constexpr absl::string_view PhaseName(Phase phase) {
  constexpr std::array<absl::string_view, kPhaseCount> kNames = {
      "forward", "loss", "backward", "communication", "optimizer"};
  return kNames[static_cast<std::size_t>(phase)];
}

// Told of each phase as the step enters it. A phase lasts until the next one
// is entered or the step ends, so phases tile the step without gaps.
class PhaseObserver {
 public:
  virtual ~PhaseObserver() = default;
  virtual void Enter(Phase phase) = 0;
};

// For callers that do not measure.
class NullObserver final : public PhaseObserver {
 public:
  void Enter(Phase) override {}
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_PHASE_H_
