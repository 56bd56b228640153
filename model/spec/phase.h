// SPDX-License-Identifier: MIT
// The phases of one training step, and the interface that observes them.

#ifndef TRAINBENCH_MODEL_SPEC_PHASE_H_
#define TRAINBENCH_MODEL_SPEC_PHASE_H_

#include "model/spec/enum_names.h"

namespace trainbench {

// In the order of a step. Only steps on several ranks enter kCommunication: the
// gradient exchange that did not overlap with the backward pass. Releasing the
// gradients belongs to the last phase of the step that created them.
enum class Phase { kForward, kLoss, kBackward, kCommunication, kOptimizer };

inline constexpr EnumNames<Phase, 5> PhaseName{"forward", "loss", "backward",
                                               "communication", "optimizer"};
inline constexpr auto kPhases = PhaseName.values();

// A marker in the device's work, such as a cudaEvent_t in a CUDA graph. The
// device records the time whenever its work reaches the marker.
using RecordedStamp = void*;

// Notified when the step enters a phase. A phase lasts until the step enters
// the next one or ends, so phases cover the step without gaps.
class PhaseObserver {
 public:
  virtual ~PhaseObserver() = default;
  // Called around the timed call, if it is part of more work.
  virtual void BeginCall() {}
  virtual void EndCall() {}
  virtual void Enter(Phase phase) = 0;

  // For a step that the device replays by itself, called once the host has
  // enqueued it: the device enters `phase` when it records `stamp`. An observer
  // that cannot read stamps sees a step without phases.
  virtual void EnterRecorded(Phase /*phase*/, RecordedStamp /*stamp*/) {}
};

// The observer for callers that do not measure.
inline PhaseObserver& NoObserver() {
  struct NullObserver final : PhaseObserver {
    void Enter(Phase) override {}
  };
  static auto& observer = *new NullObserver();
  return observer;
}

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_PHASE_H_
