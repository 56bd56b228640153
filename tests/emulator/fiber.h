// SPDX-License-Identifier: MIT
// A function call that can be suspended and resumed, on its own stack. x86-64
// only.

#ifndef TRAINBENCH_TESTS_EMULATOR_FIBER_H_
#define TRAINBENCH_TESTS_EMULATOR_FIBER_H_

#include <cstddef>
#include <functional>
#include <memory>

namespace trainbench::emulator {

// A switch takes nanoseconds: it saves the callee-saved registers and makes no
// system call, unlike swapcontext(), which saves the signal mask.
class Fiber {
 public:
  Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Makes the next Resume() begin `body`. A call that has not ended is
  // abandoned: the objects on its stack are not destroyed.
  void Start(const std::function<void()>* body);

  // Runs the body until it yields or ends. The body must not throw.
  void Resume();

  // Suspends the body; called from within it.
  void Yield();

  bool done() const { return done_; }

 private:
  static constexpr std::size_t kStackBytes = 256 << 10;

  struct Unmap {
    void operator()(void* stack) const;
  };

  static void Enter(Fiber* fiber);

  std::unique_ptr<void, Unmap> stack_;  // pages are committed on first touch
  const std::function<void()>* body_ = nullptr;
  void* inside_ = nullptr;  // stack pointer of the suspended side
  void* outside_ = nullptr;
  bool done_ = true;
  // AddressSanitizer's state of a switch.
  void* fake_inside_ = nullptr;
  void* fake_outside_ = nullptr;
  const void* outside_bottom_ = nullptr;
  std::size_t outside_bytes_ = 0;
};

}  // namespace trainbench::emulator

#endif  // TRAINBENCH_TESTS_EMULATOR_FIBER_H_
