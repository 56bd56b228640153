// SPDX-License-Identifier: MIT

#include "tools/null_gpu/streams/call.h"

#include <alloca.h>

#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "tools/null_gpu/core/device.h"
#include "tools/null_gpu/core/memory.h"
#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/streams/activity.h"
#include "tools/null_gpu/streams/trace.h"

namespace null_gpu {
namespace {

thread_local uint32_t current_correlation = 0;

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
    : entry_(entry), outermost_(current_correlation == 0) {
  entry_.calls().Add();
  WipeStack();
  if (!outermost_) return;
  current_correlation = NextCorrelation();
  if (!IsTracing()) return;
  start_ = TraceNow();
  TraceCorrelation(current_correlation);
}

CallScope::~CallScope() {
  if (!outermost_) return;
  if (start_ != 0) TraceCall(entry_, start_, current_correlation);
  current_correlation = 0;
}

uint32_t CallScope::Correlation() { return current_correlation; }

cudaError_t CallScope::Admit() {
  if (StickyError() != cudaSuccess) return StickyError();
  GetMemory().EnsureContext(CurrentDevice());
  return Inject(entry_.name()).error;
}

Fault Inject(std::string_view call, size_t bytes) {
  std::optional<Fault> fault = GetSettings().faults.Next(call, bytes);
  if (!fault) return {};
  GetCounters().faults.Add();
  if (fault->sticky) LoseContext(std::exchange(fault->error, cudaSuccess));
  return *fault;
}

}  // namespace null_gpu
