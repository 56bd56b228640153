// SPDX-License-Identifier: MIT

#include "tools/null_gpu/order/order.h"

#include <map>
#include <optional>
#include <set>
#include <string>

#include "tools/null_gpu/core/counters.h"
#include "tools/null_gpu/order/state.h"
#include "tools/null_gpu/streams/capture.h"

namespace null_gpu {
namespace {

Moment Tick(Stream& stream) {
  OrderState& state = GetOrderState();
  if (!stream.number) {
    stream.number = state.names.size();
    state.names.push_back({stream.device, stream.id});
  }
  const Moment now = {*stream.number, state.latest.At(*stream.number) + 1};
  state.latest.Advance(now);
  stream.clock.Advance(now);
  return now;
}

std::string InGraph(const Touch& touch) {
  return WordsOf(touch, " in a graph");
}

}  // namespace

void OrderOperation(const Operation& operation, Stream& stream) {
  if (!IsOrderChecked()) return;
  CatchUp(stream);
  if (operation.accesses.empty()) return;
  GetCounters().accesses.Add(operation.accesses.size());
  const Moment now = Tick(stream);
  CheckOrder(GetOrderState().history, operation, now, stream.clock, &OnStream);
}

void OrderEventRecord(Event& event, Stream& stream) {
  if (!IsOrderChecked()) return;
  CatchUp(stream);
  event.clock = stream.clock;
}

void OrderEventWait(Stream& stream, const Event& event) {
  stream.clock.Join(event.clock);
}

void OrderHostAfter(Stream& stream) {
  if (!IsOrderChecked()) return;
  CatchUp(stream);
  GetOrderState().host.Join(stream.clock);
}

void OrderHostAfter(const Event& event) {
  GetOrderState().host.Join(event.clock);
}

void OrderHostAfterDevice(int device) {
  OrderState& state = GetOrderState();
  for (size_t i = 0; i < state.names.size(); ++i) {
    if (state.names[i].device != device) continue;
    state.host.Advance({i, state.latest.At(i)});
  }
}

void OrderGraph(const Graph& graph) {
  if (!IsOrderChecked()) return;
  // A chain of nodes takes the role of a stream.
  struct Place {
    Clock clock;
    Moment moment;
  };
  std::map<const GraphNode*, Place> places;
  std::set<const GraphNode*> continued;
  size_t chains = 0;
  History history;
  for (const auto& node : graph.nodes) {
    Place& place = places[node.get()];
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

}  // namespace null_gpu
