// SPDX-License-Identifier: MIT

#include "tests/emulator/fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// Pushes the caller's registers, stores its stack pointer in *save, and resumes
// the context saved at `load`. rdi: save, rsi: load. A new stack starts at the
// second function, with its fiber in r12.
asm(R"(
.text
.type trainbench_switch_stack, @function
trainbench_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size trainbench_switch_stack, .-trainbench_switch_stack
.type trainbench_enter_fiber, @function
trainbench_enter_fiber:
  movq %r12, %rdi
  callq *%rbx
  ud2
.size trainbench_enter_fiber, .-trainbench_enter_fiber
)");

extern "C" {
void trainbench_switch_stack(void** save, void* load);
void trainbench_enter_fiber();
}

namespace trainbench::emulator {
namespace {

#ifdef __SANITIZE_ADDRESS__
void StartSwitch(void** save, const void* bottom, std::size_t bytes) {
  __sanitizer_start_switch_fiber(save, bottom, bytes);
}
void FinishSwitch(void* fake, const void** bottom, std::size_t* bytes) {
  __sanitizer_finish_switch_fiber(fake, bottom, bytes);
}
void Unpoison(void* begin, std::size_t bytes) {
  __asan_unpoison_memory_region(begin, bytes);
}
#else
void StartSwitch(void**, const void*, std::size_t) {}
void FinishSwitch(void*, const void**, std::size_t*) {}
void Unpoison(void*, std::size_t) {}
#endif

void* NewStack(std::size_t bytes) {
  void* stack = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) throw std::bad_alloc();
  return stack;
}

}  // namespace

void Fiber::Unmap::operator()(void* stack) const { munmap(stack, kStackBytes); }

Fiber::Fiber() : stack_(NewStack(kStackBytes)) {}

void Fiber::Start(const std::function<void()>* body) {
  body_ = body;
  done_ = false;
  Unpoison(stack_.get(), kStackBytes);
  fake_inside_ = nullptr;
  // The values that trainbench_switch_stack pops, and its return address. The
  // stack pointer is then a multiple of 16, as the ABI requires for a call.
  auto* top = static_cast<std::uint64_t*>(stack_.get()) + kStackBytes / 8;
  *--top = 0;
  *--top = 0;
  *--top = reinterpret_cast<std::uint64_t>(&trainbench_enter_fiber);
  *--top = 0;                                        // rbp
  *--top = reinterpret_cast<std::uint64_t>(&Enter);  // rbx
  *--top = reinterpret_cast<std::uint64_t>(this);    // r12
  top -= 3;                                          // r13 to r15
  top[0] = top[1] = top[2] = 0;
  inside_ = top;
}

void Fiber::Resume() {
  StartSwitch(&fake_outside_, stack_.get(), kStackBytes);
  trainbench_switch_stack(&outside_, inside_);
  FinishSwitch(fake_outside_, nullptr, nullptr);
}

void Fiber::Yield() {
  StartSwitch(done_ ? nullptr : &fake_inside_, outside_bottom_, outside_bytes_);
  trainbench_switch_stack(&inside_, outside_);
  FinishSwitch(fake_inside_, &outside_bottom_, &outside_bytes_);
}

void Fiber::Enter(Fiber* fiber) {
  FinishSwitch(nullptr, &fiber->outside_bottom_, &fiber->outside_bytes_);
  (*fiber->body_)();
  fiber->done_ = true;
  fiber->Yield();
  std::abort();
}

}  // namespace trainbench::emulator
