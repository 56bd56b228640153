// SPDX-License-Identifier: MIT
// A call that can be left and taken up again, on a stack of its own. x86-64
// only.

#ifndef TRAINBENCH_TESTS_EMULATOR_FIBER_H_
#define TRAINBENCH_TESTS_EMULATOR_FIBER_H_

#include <cstddef>
#include <functional>
#include <memory>

namespace trainbench::emulator {

// A switch takes nanoseconds: it keeps the registers that a call must keep, and
// asks nothing of the kernel, which swapcontext() asks for the signal mask.
class Fiber {
 public:
  Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Begins `body` with the next Resume(). A call that has not ended is
  // forgotten: what lies on its stack is not destroyed.
  void Start(const std::function<void()>* body);

  // Runs the body until it yields or ends. The body must not throw.
  void Resume();

  // Leaves the body; called in it.
  void Yield();

  bool done() const { return done_; }

 private:
  static constexpr std::size_t kStackBytes = 256 << 10;

  struct Unmap {
    void operator()(void* stack) const;
  };

  static void Enter(Fiber* fiber);

  std::unique_ptr<void, Unmap> stack_;  // takes memory where it is touched
  const std::function<void()>* body_ = nullptr;
  void* inside_ = nullptr;  // stack pointers of who is not running
  void* outside_ = nullptr;
  bool done_ = true;
  // What AddressSanitizer must know of a switch.
  void* fake_inside_ = nullptr;
  void* fake_outside_ = nullptr;
  const void* outside_bottom_ = nullptr;
  std::size_t outside_bytes_ = 0;
};

}  // namespace trainbench::emulator

#endif  // TRAINBENCH_TESTS_EMULATOR_FIBER_H_
