// SPDX-License-Identifier: MIT

#include "model/distributed/fsdp/fully_sharded.h"

#include <torch/types.h>

#include "model/distributed/trainer/parallel_trainer.h"

namespace trainbench {
namespace {

std::vector<std::vector<at::Tensor>> ParametersByUnit(
    const TransformerLm& model) {
  std::vector<std::vector<at::Tensor>> units = {
      model->token_embeddings->parameters()};
  if (!model->position_embeddings.is_empty()) {
    units.front().push_back(model->position_embeddings->weight);
  }
  for (const Block& block : model->layers) {
    units.push_back(block->parameters());
  }
  units.push_back(model->ln_final->parameters());
  if (!model->config().tied_embeddings) {
    units.back().push_back(model->lm_head->weight);
  }
  return units;
}

std::deque<ShardedUnit> MakeUnits(const TransformerLm& model,
                                  c10::ScalarType gathered_type,
                                  ProcessGroup& group, ProcessGroup* replicas) {
  std::deque<ShardedUnit> units;
  for (std::vector<at::Tensor>& parameters : ParametersByUnit(model)) {
    units.emplace_back(std::move(parameters), gathered_type, group, replicas);
  }
  return units;
}

std::vector<std::pair<std::size_t, std::size_t>> PlacesIn(
    const std::deque<ShardedUnit>& units) {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    for (std::size_t i = 0; i < units[unit].parameters(); ++i) {
      places.emplace_back(unit, i);
    }
  }
  return places;
}

std::vector<at::Tensor> ShardsOf(const std::deque<ShardedUnit>& units) {
  std::vector<at::Tensor> shards;
  for (const ShardedUnit& unit : units) shards.push_back(unit.shard());
  return shards;
}

}  // namespace

FullySharded::FullySharded(TransformerLm model, const FullSharding& sharding,
                           c10::ScalarType gathered_type,
                           const AdamWOptions& options, ProcessGroup& group,
                           ProcessGroup* replicas)
    : model_(std::move(model)),
      group_(group),
      sharding_(sharding),
      units_(MakeUnits(model_, gathered_type, group, replicas)),
      places_(PlacesIn(units_)),
      heard_(places_.size(), false),
      hooks_(model_->parameters(), [this](std::size_t i) { OnGradient(i); }),
      adamw_(ShardsOf(units_), AdamWKind::kFused, options) {
  for (std::size_t i = 0; i < model_->layers.size(); ++i) {
    const std::size_t unit = first_block() + i;
    model_->layers[i]->SetHooks({[=, this] { BeforeBlock(unit); },
                                 [=, this](const ResidualStream& output) {
                                   AfterBlock(unit, output);
                                 }});
  }
}

FullySharded::~FullySharded() {
  for (Block& block : model_->layers) block->SetHooks({});
}

void FullySharded::BeforeForward() {
  in_backward_ = false;
  Use(0);
}

void FullySharded::BeforeBackward() {
  in_backward_ = true;
  // Overlaps with the backward pass of the head.
  if (sharding_.prefetch) units_[last_block()].StartGather();
}

void FullySharded::BeforeBlock(std::size_t unit) {
  // A tied head needs the embeddings again.
  if (!in_backward_ && unit == first_block() &&
      !model_->config().tied_embeddings) {
    units_.front().Free();
  }
  Use(unit);
}

void FullySharded::AfterBlock(std::size_t unit, const ResidualStream& output) {
  // The block was recomputed, and its backward pass follows.
  if (in_backward_) return;
  if (sharding_.reshard_after_forward) units_[unit].Free();
  // Runs first in the backward pass of the block. An output without a graph
  // gets no hook: it has no backward pass, or the block will be recomputed.
  for (const at::Tensor& tensor : {output.x, output.update}) {
    if (!tensor.defined() || !tensor.requires_grad()) continue;
    tensor.register_hook([this, unit](const at::Tensor&) { Use(unit); });
  }
  if (unit == last_block()) Use(head());
}

void FullySharded::Use(std::size_t unit) {
  if (sharding_.prefetch) {
    units_[unit].StartGather();
    units_[unit].WaitForValues();
    const std::size_t next = in_backward_ ? unit - 1 : unit + 1;
    if (next >= first_block() && next <= head()) units_[next].StartGather();
    return;
  }
  units_[unit].Gather();
}

void FullySharded::OnGradient(std::size_t index) {
  TORCH_CHECK(!heard_[index],
              DescribeParameter(index, model_->parameters()[index]),
              " got a second gradient before Finish() was called");
  heard_[index] = true;
  ShardedUnit& unit = units_[places_[index].first];
  if (!unit.TakeGradient(places_[index].second)) return;
  unit.Free();
  if (!sharding_.prefetch) return unit.Reduce();
  if (reducing_ != nullptr) reducing_->FinishReduce();
  unit.StartReduce();
  reducing_ = &unit;
}

void FullySharded::Finish() {
  if (reducing_ != nullptr) reducing_->FinishReduce();
  reducing_ = nullptr;
  for (ShardedUnit& unit : units_) unit.WaitForReplicas();
  for (std::size_t i = 0; i < heard_.size(); ++i) {
    TORCH_CHECK(heard_[i], NoGradient(i, model_->parameters()[i], group_));
  }
  heard_.assign(heard_.size(), false);
  in_backward_ = false;
}

void FullySharded::Gather() {
  for (ShardedUnit& unit : units_) unit.Gather();
}

void FullySharded::SetExchanges(bool on) {
  for (ShardedUnit& unit : units_) unit.set_exchanges(on);
}

void FullySharded::Free() {
  for (ShardedUnit& unit : units_) unit.Free();
}

}  // namespace trainbench
