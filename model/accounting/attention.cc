// SPDX-License-Identifier: MIT

#include "model/accounting/attention.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "model/accounting/ledger/attention.h"

namespace trainbench {

namespace {

constexpr int64_t kUncountable = std::numeric_limits<int64_t>::max();

// No symbol counts more than 64 times, padding and buffers included.
bool IsCountable(const AttentionQuery& q) {
  const auto seq = static_cast<double>(q.seq) + 1024;
  const double columns = seq + static_cast<double>(q.d_head);
  const double rows = static_cast<double>(q.batch + q.threads) * seq;
  return 64 * rows * columns < 0x1p62;
}

ledger::AttentionSizes SizesOf(const AttentionQuery& query) {
  return {.batch = query.batch,
          .heads = 1,
          .seq = query.seq,
          .d_head = query.d_head,
          .bf16 = query.bf16,
          .on_cpu = query.on_cpu,
          .threads = query.threads,
          .multiprocessors = query.multiprocessors};
}

// Attention alone, whose inputs, output and its gradient the caller holds.
struct Alone {
  explicit Alone(const AttentionQuery& query)
      : scene(ledger, SizesOf(query)), input(scene.projection) {
    ledger.Enter("forward pass");
    in = {Input("q"), Input("k"), Input("v")};
    gradient = Input("gradient of the output");
    input_bytes = ledger.live();
    result = ledger::Attend(query.attention, scene, in);
    ledger.Enter("end of the forward pass");
    saved_bytes = ledger.live() - input_bytes;
  }

  ledger::Tensor Input(const char* name) {
    return scene.Make(name, input, scene.operand);
  }
  const ledger::LedgerMoment& Highest() const {
    return *std::max_element(
        ledger.moments().begin(), ledger.moments().end(),
        [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  }

  ledger::Ledger ledger;
  ledger::AttentionScene scene;
  ledger::TensorSize input;
  ledger::Heads in;
  ledger::Tensor gradient;
  ledger::AttentionResult result;
  int64_t input_bytes = 0, saved_bytes = 0;
};

// The larger of the two: all of the scores' size, or of the inputs'.
std::string LargestTerm(const Alone& alone, const ledger::LedgerMoment& peak) {
  const auto bytes_of = [&](const ledger::TensorSize& size) {
    int64_t bytes = 0;
    for (const ledger::TensorRecord& tensor :
         alone.ledger.AliveAfter(peak.event)) {
      if (tensor.size.formula == std::string_view(size.formula))
        bytes += tensor.bytes();
    }
    return bytes;
  };
  const auto text = [](const char* what, int64_t bytes,
                       const ledger::TensorSize& size, const char* formula) {
    return absl::StrFormat("%s, %d %s bytes: %.2f GiB", what,
                           bytes / size.elements, formula,
                           static_cast<double>(bytes) / 0x1p30);
  };
  const ledger::TensorSize &scores = alone.scene.scores,
                           &x = alone.scene.projection;
  const int64_t of_scores = bytes_of(scores), of_inputs = bytes_of(x);
  return of_scores > of_inputs ? text("scores, weights and their gradients",
                                      of_scores, scores, "B T^2")
                               : text("inputs, output and their gradients",
                                      of_inputs, x, "B T d");
}

}  // namespace

double AttentionFlops(const AttentionQuery& query, Phase phase) {
  const auto seq = static_cast<double>(query.seq);
  const double forward = 4 * static_cast<double>(query.batch) * seq * seq *
                         static_cast<double>(query.d_head);
  if (phase == Phase::kForward) return forward;
  return phase == Phase::kBackward ? 2 * forward : 0;
}

double LeastAttentionFlops(const AttentionQuery& query, Phase phase) {
  const double flops = AttentionFlops(query, phase);
  return VariantOf(query.attention).skips_masked ? flops / 2 : flops;
}

int64_t AttentionSavedBytes(const AttentionQuery& query) {
  return IsCountable(query) ? Alone(query).saved_bytes : kUncountable;
}

double AttentionBytes(const AttentionQuery& query, Phase phase) {
  const double input =
      (query.bf16 ? 2.0 : 4.0) * static_cast<double>(query.batch) *
      static_cast<double>(query.seq) * static_cast<double>(query.d_head);
  auto saved = static_cast<double>(AttentionSavedBytes(query));
  if (phase == Phase::kForward) return 3 * input + saved;
  if (phase != Phase::kBackward) return 0;
  if (IsCountable(query)) {
    Alone alone(query);
    alone.result.output.Reset();  // not read if nobody else keeps it
    saved = static_cast<double>(alone.ledger.live() - alone.input_bytes);
  }
  return 7 * input + saved;
}

AttentionMemory EstimateAttention(const AttentionQuery& query) {
  AttentionMemory memory;
  if (!IsCountable(query)) {
    memory.forward_peak = {"beyond counting", kUncountable};
    memory.peak = memory.forward_peak;
    memory.largest_term = "scores, more bytes than 64 bits can count";
    return memory;
  }
  Alone alone(query);
  memory.input_bytes = alone.input_bytes;
  memory.saved_bytes = alone.saved_bytes;
  ledger::LedgerMoment peak = alone.Highest();
  memory.forward_peak = {peak.name.Joined(), peak.bytes};
  const ledger::Heads gradients = alone.result.backward(alone.gradient);
  peak = alone.Highest();
  memory.peak = {peak.name.Joined(), peak.bytes};
  memory.largest_term = LargestTerm(alone, peak);
  return memory;
}

int64_t LargestProductElements(const AttentionQuery& query) {
  if (!IsCountable(query)) return kUncountable;
  return std::min<int64_t>(query.threads, query.batch) * query.seq *
         std::max(query.seq, query.d_head);
}

}  // namespace trainbench
