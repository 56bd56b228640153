// SPDX-License-Identifier: MIT

#include "tools/null_gpu/order/order.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/null_gpu/core/counters.h"
#include "tools/null_gpu/core/settings.h"
#include "tools/null_gpu/order/history.h"
#include "tools/null_gpu/streams/capture.h"
#include "tools/null_gpu/streams/stream.h"

namespace null_gpu {
namespace {

// Requires StreamMutex().
struct OrderState {
  struct StreamName {
    int device;
    uint32_t id;
  };
  std::vector<StreamName> names;  // by Moment::stream
  Clock host;
  Clock latest;  // knows everything
  History history;
};

OrderState& GetState() {
  static auto* const state = new OrderState;
  return *state;
}

bool IsChecked() { return GetSettings().order; }

// Adds to the stream's clock what the host knows, and the work for which the
// legacy default stream makes it wait.
void CatchUp(Stream& stream) {
  stream.clock.Join(GetState().host);
  ForEachAwaited(stream,
                 [&](const Stream& other) { stream.clock.Join(other.clock); });
}

Moment Tick(Stream& stream) {
  OrderState& state = GetState();
  if (!stream.number) {
    stream.number = state.names.size();
    state.names.push_back({stream.device, stream.id});
  }
  const Moment now = {*stream.number, state.latest.At(*stream.number) + 1};
  state.latest.Advance(now);
  stream.clock.Advance(now);
  return now;
}

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

// Returns "<kernel><where> reads".
std::string WordsOf(const Touch& touch, const std::string& where) {
  constexpr size_t kLongest = 200;
  std::string name = Demangled(touch.by);
  if (name.size() > kLongest) name = name.substr(0, kLongest) + "...";
  return name + where + (touch.writes ? " writes" : " reads");
}

std::string OnStream(const Touch& touch) {
  const auto& [device, id] = GetState().names.at(touch.moment.stream);
  return WordsOf(touch, " on stream " + std::to_string(id) + " of device " +
                            std::to_string(device));
}

std::string InGraph(const Touch& touch) {
  return WordsOf(touch, " in a graph");
}

// Adds the accesses of the operation. Dies if one is unordered with an access
// in the history; `words` describes an access.
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

// `clock` belongs to the next user of the memory.
void CheckFree(const char* begin, size_t bytes, const Clock& clock) {
  const auto touch = GetState().history.FindUnknown(begin, bytes, clock);
  if (!touch) return;
  Die("memory is freed that " + OnStream(*touch) +
      ", and nothing orders the two");
}

}  // namespace

void OrderOperation(const Operation& operation, Stream& stream) {
  if (!IsChecked()) return;
  CatchUp(stream);
  if (operation.accesses.empty()) return;
  GetCounters().accesses.Add(operation.accesses.size());
  const Moment now = Tick(stream);
  CheckOrder(GetState().history, operation, now, stream.clock, &OnStream);
}

void OrderEventRecord(Event& event, Stream& stream) {
  if (!IsChecked()) return;
  CatchUp(stream);
  event.clock = stream.clock;
}

void OrderEventWait(Stream& stream, const Event& event) {
  stream.clock.Join(event.clock);
}

void OrderHostAfter(Stream& stream) {
  if (!IsChecked()) return;
  CatchUp(stream);
  GetState().host.Join(stream.clock);
}

void OrderHostAfter(const Event& event) { GetState().host.Join(event.clock); }

void OrderHostAfterDevice(int device) {
  OrderState& state = GetState();
  for (size_t i = 0; i < state.names.size(); ++i) {
    if (state.names[i].device != device) continue;
    state.host.Advance({i, state.latest.At(i)});
  }
}

void OrderGraph(const Graph& graph) {
  if (!IsChecked()) return;
  // A chain of nodes takes the role of a stream.
  struct Position {
    Clock clock;
    Moment moment;
  };
  std::map<const GraphNode*, Position> places;
  std::set<const GraphNode*> continued;
  size_t chains = 0;
  History history;
  for (const auto& node : graph.nodes) {
    Position& place = places[node.get()];
    std::optional<Moment> previous;
    for (const GraphNode* dependency : node->dependencies) {
      place.clock.Join(places[dependency].clock);
      if (previous || !continued.insert(dependency).second) continue;
      previous = places[dependency].moment;
    }
    if (!previous) previous = Moment{chains++, 0};
    place.moment = {previous->stream, previous->tick + 1};
    place.clock.Advance(place.moment);
    CheckOrder(history, node->operation, place.moment, place.clock, &InGraph);
  }
}

void OrderBlockFree(const char* begin, size_t bytes, int device,
                    cudaStream_t handle) {
  if (!IsChecked()) return;
  const std::lock_guard lock(StreamMutex());
  Stream* const stream =
      handle == nullptr ? StreamsOf(device).front() : FindStream(handle);
  if (stream == nullptr) return;
  CatchUp(*stream);
  CheckFree(begin, bytes, stream->clock);
}

void OrderFree(const char* begin, size_t bytes, int device) {
  if (!IsChecked()) return;
  const std::lock_guard lock(StreamMutex());
  OrderHostAfterDevice(device);
  GetState().history.Forget(begin, bytes);
}

void OrderUnmap(const char* begin, size_t bytes) {
  if (!IsChecked()) return;
  const std::lock_guard lock(StreamMutex());
  CheckFree(begin, bytes, GetState().host);
  GetState().history.Forget(begin, bytes);
}

}  // namespace null_gpu
