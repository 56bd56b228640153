// SPDX-License-Identifier: MIT

#include "tools/null_gpu/streams/call.h"

#include <alloca.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/core/memory.h"
#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/streams/activity.h"
#include "tools/null_gpu/streams/trace.h"

namespace null_gpu {
namespace {

thread_local uint32_t correlation = 0;

uint32_t NextCorrelation() {
  static std::atomic<uint32_t> last{0};
  return ++last;
}

}  // namespace

void WipeStack() {
  constexpr size_t kBytes = 32 << 10;
  if (!GetSettings().watches_memory()) return;
  explicit_bzero(alloca(kBytes), kBytes);
}

CallScope::CallScope(ApiEntry& entry)
    : entry_(entry), outermost_(correlation == 0) {
  entry_.calls().Add();
  WipeStack();
  if (!outermost_) return;
  correlation = NextCorrelation();
  if (!IsTracing()) return;
  start_ = TraceNow();
  TraceCorrelation(correlation);
}

CallScope::~CallScope() {
  if (!outermost_) return;
  if (start_ != 0) TraceCall(entry_, start_, correlation);
  correlation = 0;
}

uint32_t CallScope::Correlation() { return correlation; }

cudaError_t CallScope::Admit() {
  if (StickyError() != cudaSuccess) return StickyError();
  GetMemory().EnsureContext(CurrentDevice());
  return Inject(entry_.name()).error;
}

Injected Inject(std::string_view call, size_t bytes, Returns returns) {
  Injected injected;
  const auto fault = GetSettings().faults.Next(call, bytes);
  if (!fault) return injected;
  GetCounters().faults.Add();
  switch (fault->effect) {
    case Fault::Effect::kHang:
      while (true) pause();
    case Fault::Effect::kNever:
      injected.never = true;
      return injected;
    case Fault::Effect::kNccl:
      injected.nccl_error = fault->word;
      return injected;
    case Fault::Effect::kError:
      break;
  }
  if (fault->sticky) LoseContext(fault->error);
  if (!fault->sticky || returns == Returns::kWhenDone) {
    injected.error = fault->error;
  }
  return injected;
}

}  // namespace null_gpu
