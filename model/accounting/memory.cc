// SPDX-License-Identifier: MIT

#include "model/accounting/memory.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>

#include "model/accounting/ledger/step.h"
#include "model/accounting/parameters.h"

namespace trainbench {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 20;

// The moments, the peak among them, and its largest tensor.
void ReadLedger(const ledger::Ledger& ledger, MemoryEstimate& to) {
  const ledger::LedgerMoment* peak = nullptr;
  for (const ledger::LedgerMoment& moment : ledger.moments()) {
    to.candidates.push_back(
        {moment.name.Joined(), moment.bytes, moment.gradient_bytes});
    if (peak == nullptr || moment.bytes > peak->bytes) peak = &moment;
  }
  to.peak = {peak->name.Joined(), peak->bytes, peak->gradient_bytes};
  for (const ledger::TensorRecord& tensor : ledger.AliveAfter(peak->event)) {
    if (tensor.bytes() <= to.largest_at_peak_bytes) continue;
    to.largest_at_peak = tensor.name.Joined();
    to.largest_at_peak_bytes = tensor.bytes();
  }
}

// The largest value of a field with which the step fits.
int64_t Largest(MemoryQuery query, int64_t MemoryQuery::*field,
                int64_t budget_bytes) {
  const auto fits = [&](int64_t value) {
    query.*field = value;
    return EstimateMemory(query).peak.bytes <= budget_bytes;
  };
  // low fits, high does not or is beyond the limit. Sizes whose bytes cannot be
  // counted fit no budget.
  int64_t low = 0, high = kMaxSize + 1;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

// No tensor's elements are alive more than 16 times at once, with 4 bytes each.
bool IsCountable(const MemoryQuery& query) {
  const auto number = [](int64_t value) { return static_cast<double>(value); };
  const ModelConfig& m = query.config;
  const double d = number(m.d_model), ff = number(m.d_ff),
               layers = number(m.layers), heads = number(m.heads),
               vocab = number(m.vocab), seq = number(query.seq),
               tokens = number(query.batch) * seq;
  const double block = tokens * (d + ff + heads * (seq + 1)) + seq * (seq + d) +
                       4 * d * d + 3 * d * ff + 2 * d;
  const double elements = layers * block + (tokens + 2 * d) * vocab + d;
  return 16 * 4 * elements < 0x1p62;
}

int64_t SavedBytesPerBlock(const MemoryQuery& query) {
  int64_t bytes = 0;
  for (const ledger::TensorRecord& tensor : ledger::KeptByOneBlock(query)) {
    if (tensor.layer == 0) bytes += tensor.bytes();
  }
  return bytes;
}

int64_t SavedAttentionBytesPerBlock(const MemoryQuery& query) {
  int64_t bytes = 0;
  for (const ledger::TensorRecord& tensor : ledger::KeptByOneBlock(query)) {
    if (tensor.name.of == std::string_view(ledger::kFeedForwardPart)) break;
    if (tensor.layer == 0) bytes += tensor.bytes();
  }
  return bytes;
}

int64_t SavedBytes(const MemoryQuery& query) {
  MemoryQuery forward = query;
  forward.mode = StepMode::kForward;
  ledger::Ledger ledger;
  return ledger::RunStep(forward, ledger).saved_bytes;
}

MemoryEstimate EstimateMemory(const MemoryQuery& query) {
  MemoryEstimate estimate;
  if (!IsCountable(query)) {
    estimate.peak = {"beyond counting", std::numeric_limits<int64_t>::max()};
    estimate.candidates = {estimate.peak};
    return estimate;
  }
  ledger::Ledger ledger;
  ledger::Step step(query, ledger);
  const int64_t width = ledger::BytesPerElement(step.parameter);
  estimate.parameter_bytes = width * ParameterCount(query.config);
  if (query.mode == StepMode::kTrainStep) {
    // Both moments, and the fused kernel's fp32 step count per tensor.
    estimate.optimizer_bytes =
        2 * estimate.parameter_bytes + 4 * ParameterTensorCount(query.config);
  }
  // Each block keeps its own rotary tables: cosines and sines of
  // seq x d_head / 2 in fp32.
  estimate.input_bytes =
      2 * 8 * step.tokens.elements +
      4 * query.seq * query.config.d_head() * query.config.layers;
  estimate.residual_bytes = width * step.x.elements;
  estimate.logit_bytes =
      ledger::BytesPerElement(step.operand) * step.logits.elements;
  const bool backward = query.mode == StepMode::kForwardBackward ||
                        query.mode == StepMode::kTrainStep;
  estimate.gradient_bytes = backward ? estimate.parameter_bytes : 0;
  ledger.Add(estimate.parameter_bytes + estimate.optimizer_bytes +
             estimate.input_bytes);
  estimate.saved_bytes = ledger::RunStep(query, ledger).saved_bytes;
  ReadLedger(ledger, estimate);
  return estimate;
}

int64_t LargestProductElements(const MemoryQuery& query, int threads) {
  if (!IsCountable(query)) return std::numeric_limits<int64_t>::max();
  const ModelConfig& m = query.config;
  const int64_t widest = std::max({m.vocab, m.d_ff, m.d_model});
  const int64_t matrices = std::min<int64_t>(threads, query.batch * m.heads);
  return std::max({query.batch * query.seq * widest, m.d_model * widest,
                   matrices * query.seq * query.seq});
}

int64_t PeakWithGradientBuffer(const MemoryEstimate& estimate,
                               int64_t buffer_bytes) {
  const int64_t outside =
      std::max<int64_t>(0, estimate.gradient_bytes - buffer_bytes);
  int64_t most = 0;
  for (const PeakCandidate& candidate : estimate.candidates) {
    const int64_t moved =
        std::max<int64_t>(0, candidate.gradient_bytes - outside);
    most = std::max(most, candidate.bytes - moved);
  }
  return most > std::numeric_limits<int64_t>::max() - buffer_bytes
             ? most
             : most + buffer_bytes;
}

int64_t LargestSeq(const MemoryQuery& query, int64_t budget_bytes) {
  return Largest(query, &MemoryQuery::seq, budget_bytes);
}

int64_t LargestBatch(const MemoryQuery& query, int64_t budget_bytes) {
  return Largest(query, &MemoryQuery::batch, budget_bytes);
}

}  // namespace trainbench
