// SPDX-License-Identifier: MIT

#include "tools/null_gpu/order/state.h"

#include "tools/null_gpu/core/kernel.h"

namespace null_gpu {
namespace {

const char* NameOf(const Operation& operation) {
  switch (operation.kind) {
    case Operation::Kind::kKernel:
      return operation.kernel->name;
    case Operation::Kind::kCopy:
      return "a copy";
    default:
      return "a fill";
  }
}

}  // namespace

OrderState& GetOrderState() {
  static auto* const state = new OrderState;
  return *state;
}

std::string WordsOf(const Touch& touch, const std::string& where) {
  constexpr size_t kLongest = 200;
  std::string name = Demangled(touch.by);
  if (name.size() > kLongest) name = name.substr(0, kLongest) + "...";
  return name + where + (touch.writes ? " writes" : " reads");
}

std::string OnStream(const Touch& touch) {
  const auto& [device, id] = GetOrderState().names.at(touch.moment.stream);
  return WordsOf(touch, " on stream " + std::to_string(id) + " of device " +
                            std::to_string(device));
}

void CheckOrder(History& history, const Operation& operation, const Moment& now,
                const Clock& clock, std::string (*words)(const Touch&)) {
  for (const Access& access : operation.accesses) {
    const Touch touch = {now, access.writes, NameOf(operation), access.block};
    const auto earlier = history.Add(access, touch, clock);
    if (!earlier) continue;
    const bool reused = earlier->block != touch.block;
    Die(words(touch) + (reused ? " freed memory that " : " memory that ") +
        words(*earlier) + ", and nothing orders the two");
  }
}

void CatchUp(Stream& stream) {
  stream.clock.Join(GetOrderState().host);
  const std::vector<Stream*>& all = StreamsOf(stream.device);
  if (IsLegacy(stream)) {
    for (const Stream* other : all) {
      if (other->blocking) stream.clock.Join(other->clock);
    }
  } else if (stream.blocking) {
    stream.clock.Join(all.front()->clock);
  }
}

}  // namespace null_gpu
