// SPDX-License-Identifier: MIT

#include "model/accounting/component_traffic.h"

#include <algorithm>
#include <cstdint>

#include "model/accounting/number.h"
#include "model/accounting/traffic.h"

namespace trainbench {
namespace {

// The terms of the header's table: bytes of tensors, of all layers together.
struct Terms {
  double eD, eK, rD, eF, eS, eC, eL;
  double square, keys, ff;  // p d^2, p d kv, p d ff
  double head;              // p V d
  double rows;              // of W, each once
  double ids;               // of tokens or of targets
  double norms, scale;      // their number, p d
  double adds;
  double one_rD, one_eD;  // of one layer
};

Terms TermsOf(const StepParams& step) {
  const ModelConfig& m = step.model;
  const bool bf16 = step.precision == Precision::kBf16;
  const bool autocast = step.precision == Precision::kBf16Autocast;
  const double p = bf16 ? 2 : 4, r = p, e = bf16 || autocast ? 2 : 4;
  const double layers = Number(m.layers), d = Number(m.d_model);
  const double n = Number(step.batch * step.seq);
  Terms t{};
  t.one_rD = r * n * d;
  t.one_eD = e * n * d;
  t.rD = layers * t.one_rD;
  t.eD = layers * t.one_eD;
  // Of d where keys and values have as many heads: exactly d.
  const double kv = d * Number(m.key_value_heads()) / Number(m.heads);
  t.eK = layers * e * n * kv;
  t.eF = layers * e * n * Number(m.d_ff);
  t.eS = layers * e * n * Number(m.heads) * Number(step.seq);
  t.eC = t.eS * (Number(step.seq) + 1) / (2 * Number(step.seq));
  t.eL = e * n * Number(m.vocab);
  t.square = layers * p * d * d;
  t.keys = layers * p * d * kv;
  t.ff = layers * p * d * Number(m.d_ff);
  t.head = p * Number(m.vocab) * d;
  t.rows = p * d * std::min(n, Number(m.vocab));
  t.ids = 8 * n;
  t.norms = 2 * layers + 1;
  t.scale = p * d;
  t.adds = 2 * layers;
  return t;
}

ComponentTraffic EachPass(double bytes) { return {bytes, bytes}; }

ComponentTraffic ForwardTraffic(const Terms& t, Component component) {
  switch (component) {
    case Component::kEmbedding:
      return EachPass(t.ids + t.rows + t.one_rD);
    case Component::kProjections:
      return {2 * t.eD + 2 * t.eK + t.square + 2 * t.keys, 0};
    case Component::kRope:
      return EachPass(2 * t.eD + 2 * t.eK);
    case Component::kScores:
      return {t.eD + t.eK + t.eC, 0};
    case Component::kSoftmax:
      return {2 * t.eC, 2 * t.eS};
    case Component::kValue:
      return {t.eD + t.eK + t.eC, 0};
    case Component::kFusedAttention:
      return {2 * t.eD + 2 * t.eK, 0};
    case Component::kOutputProjection:
      return {2 * t.eD + t.square, 0};
    case Component::kFfn:
      return {2 * t.eD + 3 * t.ff, 3 * t.eF};
    case Component::kNorm:
      return EachPass(t.norms * (2 * t.one_rD + t.scale));
    case Component::kResidual:
      return EachPass(t.adds * (2 * t.one_rD + t.one_eD));
    case Component::kLmHead:
      return {t.one_eD + t.eL + t.head, 0};
    case Component::kCrossEntropy:
    case Component::kOptimizer:
      return {};
  }
  return {};
}

ComponentTraffic BackwardTraffic(const Terms& t, Component component) {
  switch (component) {
    case Component::kEmbedding:
      return EachPass(t.ids + t.one_rD + t.head);
    case Component::kProjections:
      return {3 * t.eD + 2 * t.eK + 2 * t.square + 4 * t.keys, 0};
    case Component::kRope:
      return EachPass(2 * t.eD + 2 * t.eK);
    case Component::kScores:
      return {2 * t.eD + 2 * t.eK + t.eC, 0};
    case Component::kSoftmax:
      return {3 * t.eC, 3 * t.eS};
    case Component::kValue:
      return {t.eD + 2 * t.eK + 2 * t.eC, 0};
    case Component::kFusedAttention:
      return {3 * t.eD + 4 * t.eK, 0};
    case Component::kOutputProjection:
      return {3 * t.eD + 2 * t.square, 0};
    case Component::kFfn:
      return {3 * t.eD + 6 * t.ff, 5 * t.eF};
    case Component::kNorm:
      return EachPass(t.norms * (3 * t.one_rD + 2 * t.scale));
    case Component::kLmHead:
      return {2 * t.one_eD + t.eL + 2 * t.head, 0};
    case Component::kCrossEntropy:
      return EachPass(2 * t.eL);
    case Component::kResidual:
    case Component::kOptimizer:
      return {};
  }
  return {};
}

}  // namespace

ComponentTraffic TrafficOf(const StepParams& step, Phase phase,
                           Component component) {
  const Terms terms = TermsOf(step);
  switch (phase) {
    case Phase::kForward:
      return ForwardTraffic(terms, component);
    case Phase::kBackward:
      return BackwardTraffic(terms, component);
    case Phase::kLoss:
      if (component != Component::kCrossEntropy) return {};
      return EachPass(terms.eL + terms.ids);
    case Phase::kOptimizer:
      if (component != Component::kOptimizer) return {};
      return EachPass(OptimizerBytes(step.model, step.precision));
    case Phase::kCommunication:
      return {};
  }
  return {};
}

}  // namespace trainbench
