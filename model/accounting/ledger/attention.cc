// SPDX-License-Identifier: MIT

#include "model/accounting/ledger/attention.h"

#include <algorithm>
#include <utility>

#include "model/spec/cpu_flash_tiles.h"

namespace trainbench::ledger {

using enum TensorType;

AttentionScene::AttentionScene(Ledger& to, const AttentionSizes& of)
    : ledger(to),
      sizes(of),
      operand(of.bf16 ? kBfloat16 : kFloat),
      projection{"B T d", of.sequences() * of.seq * of.d_head},
      rows{"B h T", of.sequences() * of.seq},
      scores{"B h T^2", of.sequences() * of.seq * of.seq},
      mask{"T^2", of.seq * of.seq} {}

Tensor AttentionScene::Separated(const Tensor& from, const TensorName& name,
                                 TensorType type) {
  return sizes.batch > 1 && sizes.heads > 1 ? Make(name, projection, type)
                                            : from;
}

AttentionResult Attend(AttentionKind kind, AttentionScene& s, const Heads& in) {
  switch (kind) {
#define ATTENTION(Name, text, Memory, ...) \
  case AttentionKind::k##Name:             \
    return Memory(s, in);
#include "model/spec/attention_variants.inc"
#undef ATTENTION
  }
  return {};
}

AttentionResult LogSumExpMemory(AttentionScene& s, const Heads& in) {
  return LogSumExpMemory(s, in, {});
}

Heads MakeGradients(AttentionScene& s) {
  return {s.Operands("gradient of q", s.projection),
          s.Operands("gradient of k", s.projection),
          s.Operands("gradient of v", s.projection)};
}

AttentionResult LogSumExpMemory(AttentionScene& s, const Heads& in,
                                const AttentionKernels& kernels) {
  s.component = Component::kFusedAttention;
  Heads of = in;
  if (kernels.separate_heads) {
    if (in.merged) {
      of.q = s.Separated(in.q, "q");
      of.k = s.Separated(in.k, "k");
    }
    of.v = s.Separated(in.v, "v");
  }
  AttentionResult result = {s.Operands("output", s.projection)};
  const Tensor sums = s.Floats("log-sum-exp", s.rows);
  kernels.forward(s);
  if (!s.sizes.graph) return result;
  result.backward = [&s, kept = of, output = result.output, rows = Tensor(sums),
                     kernels](Tensor gradient) mutable {
    s.Enter("fused attention backward");
    s.component = Component::kFusedAttention;
    if (kernels.separate_heads) {
      gradient = s.Separated(gradient, "gradient of the output");
    }
    Heads to = kernels.backward(s);
    gradient.Reset();
    kept = {};
    Free(output, rows);
    return to;
  };
  return result;
}

// model/nn/attention/tiled.cc: tensors of one tile, with bf16 a copy of each in
// fp32.
AttentionResult TiledMemory(AttentionScene& s, const Heads& in) {
  const AttentionSizes& z = s.sizes;
  const int64_t tile = std::min<int64_t>(256, z.seq);
  const TensorSize scores = {"", z.sequences() * tile * tile};
  const TensorSize x = {"", z.sequences() * tile * z.d_head};
  const TensorSize rows = {"", z.sequences() * tile};
  // In at least fp32.
  const auto product = [=](AttentionScene& at, const TensorSize& size) {
    if (!at.sizes.bf16) return at.Floats("product of a tile", size);
    const Tensor narrow = at.Make("bf16 product of a tile", size, kBfloat16);
    return at.Floats("product of a tile", size);
  };
  const auto narrowed = [=](AttentionScene& at) {
    return at.sizes.bf16 ? at.Make("bf16 scores of a tile", scores, kBfloat16)
                         : Tensor();
  };
  AttentionKernels tiles;
  tiles.forward = [=](AttentionScene& at) {
    Tensor maxima = at.Floats("row maxima of a tile", rows);
    const Tensor sums = at.Floats("row sums of a tile", rows);
    const Tensor mixed = at.Floats("output of a tile", x);
    const Tensor weights = product(at, scores);
    at.Make("mask of a tile", {"", tile * tile}, kBool);
    Tensor highest = at.Floats("row maxima of the scores", rows);
    const Tensor raised = at.Floats("raised row maxima", rows);
    highest.Reset();
    const Tensor factor = at.Floats("factor of the rows", rows);
    at.Floats("row sums of the weights", rows);
    const Tensor narrow = narrowed(at);
    product(at, x);
  };
  tiles.backward = [=](AttentionScene& at) {
    Tensor product_with_output = at.Floats("gradient x output", at.projection);
    if (at.sizes.bf16) at.Floats("fp32 output", at.projection);
    const Tensor means = at.Floats("means of the gradient", at.rows);
    product_with_output.Reset();
    Heads to;
    to.q = at.Floats("fp32 gradient of q", at.projection);
    to.k = at.Operands("gradient of k", at.projection);
    to.v = at.Operands("gradient of v", at.projection);
    {
      const Tensor of_k = at.Floats("gradient of a tile of k", x);
      const Tensor of_v = at.Floats("gradient of a tile of v", x);
      const Tensor weights = product(at, scores);
      at.Make("mask of a tile", {"", tile * tile}, kBool);
      const auto times = [&] {
        const Tensor narrow = narrowed(at);
        product(at, x);
      };
      times();
      const Tensor of_scores = product(at, scores);
      times();
      times();
    }
    if (at.sizes.bf16) to.q = at.Operands("gradient of q", at.projection);
    return to;
  };
  tiles.separate_heads = true;
  return LogSumExpMemory(s, in, tiles);
}

// model/fused/cpu and model/fused/cuda.
AttentionResult OwnMemory(AttentionScene& s, const Heads& in) {
  const CpuFlashTiles tiles(s.sizes.seq, s.sizes.d_head);
  const int64_t sequences = s.sizes.sequences(), threads = s.sizes.threads;
  const int64_t splits =
      sequences * tiles.Splits(sequences, std::max<int64_t>(1, threads));
  AttentionKernels kernels;
  if (s.sizes.on_cpu) {
    kernels.forward = [=](AttentionScene& at) {
      at.Floats("tiles of the threads", {"", threads * tiles.ForwardFloats()});
    };
  }
  kernels.backward = [=](AttentionScene& at) {
    if (!at.sizes.on_cpu) {
      Heads to = MakeGradients(at);
      const Tensor means = at.Floats("means of the gradient", at.rows);
      at.Floats("fp32 gradient of q", at.projection);
      return to;
    }
    const Tensor means = at.Floats("means of the gradient", at.rows);
    const Tensor of_q = at.Floats("fp32 gradient of q",
                                  {"", splits * tiles.QueryGradientFloats()});
    Heads to = MakeGradients(at);
    at.Floats("tiles of the threads", {"", threads * tiles.BackwardFloats()});
    return to;
  };
  AttentionResult result = LogSumExpMemory(s, in, kernels);
  result.merged = result.merged_v_gradient = true;
  return result;
}

}  // namespace trainbench::ledger
