// SPDX-License-Identifier: MIT

#include "model/accounting/attention_forms.h"

#include <algorithm>

#include "model/spec/cpu_flash_tiles.h"

namespace trainbench {
namespace {

using enum AttentionSize;

constexpr char kFloat[] = "float";

const char* OperandType(const AttentionQuery& q) {
  return q.bf16 ? "bfloat16" : kFloat;
}

}  // namespace

AttentionSymbols SymbolsOf(const AttentionQuery& q) {
  const int64_t rows = q.batch * q.seq;
  return {.S = rows * q.seq,
          .N = rows * q.d_head,
          .M = q.seq * q.seq,
          .R = rows,
          .e = q.bf16 ? 2 : 4};
}

int64_t ElementsOf(const AttentionTensor& tensor, const AttentionSymbols& s) {
  switch (tensor.size) {
    case kScores:
      return s.S;
    case kInput:
      return s.N;
    case kMask:
      return s.M;
    case kRows:
      return s.R;
  }
  return 0;
}

int64_t BytesPerElement(const std::string& dtype) {
  return dtype == "long" ? 8 : dtype == kFloat ? 4 : dtype == "bool" ? 1 : 2;
}

int64_t BytesOf(const AttentionMoment& moment, const AttentionSymbols& s) {
  return moment.s * s.S + moment.n * s.N + moment.m * s.M + moment.r * s.R +
         moment.other;
}

bool AttentionForm::keeps_output() const {
  return !saved.empty() && saved.back().name == "output";
}

bool AttentionForm::keeps_scores() const {
  return std::any_of(saved.begin(), saved.end(),
                     [](const auto& kept) { return kept.size == kScores; });
}

int64_t AttentionForm::SavedBytes(const AttentionSymbols& s) const {
  int64_t bytes = 0;
  for (const AttentionTensor& kept : saved) {
    bytes += ElementsOf(kept, s) * BytesPerElement(kept.dtype);
  }
  return bytes;
}

AttentionForm FormOf(const AttentionQuery& query) {
  switch (query.attention) {
#define ATTENTION(Name, text, Form, ...) \
  case AttentionKind::k##Name:           \
    return Form(query);
#include "model/spec/attention_variants.inc"
#undef ATTENTION
  }
  return {};
}

AttentionForm NaiveForm(const AttentionQuery& q) {
  const int64_t e = SymbolsOf(q).e;
  const auto kept = [](const char* name, Component component,
                       AttentionSize size, const char* dtype) {
    return AttentionTensor{name, component, size, dtype};
  };
  using enum Component;
  AttentionForm form;
  form.saved = {
      kept("causal mask", Component::kScores, kMask, "bool"),
      kept("indices of the row maxima", kSoftmax, kRows, "long"),
      kept("exp(scores)", kSoftmax, AttentionSize::kScores, kFloat),
      kept("row sums", kSoftmax, kRows, kFloat),
      kept("weights", kSoftmax, AttentionSize::kScores, OperandType(q))};
  // exp(scores) and the quotient, and with bf16 the narrowed weights.
  form.forward.push_back(
      {.name = "softmax", .s = q.bf16 ? 10 : 8, .m = 1, .r = 12});
  // The weights' gradient, in bf16 after the saved weights are gone.
  form.backward.push_back({.name = "backward of the product with v",
                           .s = 4 + 2 * e,
                           .n = 2 * e,
                           .m = 1,
                           .r = 12,
                           .released = 1});
  // exp(scores), the weights' gradient and four tensors of the quotient's
  // derivative, all fp32; the saved weights are gone. The output and v's
  // gradient are there.
  form.backward.push_back({.name = "softmax backward",
                           .s = 24,
                           .n = 2 * e,
                           .m = 1,
                           .r = 12,
                           .released = 3});
  form.backward.push_back(
      {.name = "gradients of q and k", .s = e, .n = 4 * e, .released = 3});
  // Two fp32 score matrices at a time, as each pass overwrites the one before.
  // Masking has the mask besides, but on scores of the operands' width.
  form.inference = {{.name = "softmax", .s = 8, .r = 12},
                    {.name = "mask", .s = 2 * e, .m = 1}};
  return form;
}

AttentionForm LogSumExpForm(const AttentionQuery& q) {
  const Component component = Component::kFusedAttention;
  const int64_t e = SymbolsOf(q).e;
  AttentionForm form;
  form.saved = {{"log-sum-exp", component, kRows, kFloat},
                {"output", component, kInput, OperandType(q)}};
  form.backward.push_back({.name = "gradients", .n = 4 * e, .r = 4});
  form.inference = {{.name = "fused attention", .n = e, .r = 4}};
  return form;
}

// model/nn/attention/tiled.cc: tensors of one tile, with bf16 a copy of each in
// fp32.
AttentionForm TiledForm(const AttentionQuery& q) {
  const int64_t tile = std::min<int64_t>(256, q.seq);
  const int64_t scores = q.batch * tile * tile;
  const int64_t rows = q.batch * tile * q.d_head;
  const int64_t per_row = 4 * q.batch * tile;
  const int64_t product = q.bf16 ? 6 : 4;  // narrow and wide
  AttentionForm form = LogSumExpForm(q);
  const int64_t e = SymbolsOf(q).e;
  form.forward.push_back(
      {.name = "mask of a tile",
       .n = e,
       .r = 4,
       .other = 4 * scores + tile * tile + 4 * rows + 2 * per_row});
  form.forward.push_back(
      {.name = "product of a tile with v",
       .n = e,
       .r = 4,
       .other = product * scores + (4 + product) * rows + 4 * per_row});
  form.inference = form.forward;
  // q's gradient is summed in fp32.
  form.backward.push_back(
      {.name = "tile of the backward pass",
       .n = 3 * e + 4,
       .r = 8,
       .other = (4 + product) * scores + (8 + product) * rows});
  return form;
}

// model/fused/cpu and model/fused/cuda.
AttentionForm OwnForm(const AttentionQuery& q) {
  AttentionForm form = LogSumExpForm(q);
  form.merges_heads = true;
  const AttentionSymbols s = SymbolsOf(q);
  AttentionMoment forward = {
      .name = "tiles of the forward pass", .n = s.e, .r = 4};
  // Beside the gradients: a value per row, and q's gradient in fp32.
  AttentionMoment backward = {
      .name = "tiles of the backward pass", .n = 4 * s.e, .r = 8};
  if (q.on_cpu) {
    const CpuFlashTiles tiles(q.seq, q.d_head);
    const int64_t threads = q.threads;
    forward.other = 4 * threads * tiles.ForwardFloats();
    backward.other =
        4 * (threads * tiles.BackwardFloats() +
             q.batch * tiles.Splits(q.batch, std::max<int64_t>(1, threads)) *
                 tiles.QueryGradientFloats());
  } else {
    backward.n += 4;
  }
  form.forward.push_back(forward);
  form.inference = form.forward;
  form.backward.push_back(backward);
  return form;
}

}  // namespace trainbench
