// SPDX-License-Identifier: MIT

#include "model/accounting/saved_tensors.h"

#include <array>
#include <cstddef>
#include <utility>

#include "model/accounting/attention_forms.h"

namespace trainbench {
namespace {

using enum Component;

constexpr char kFloat[] = "float";
constexpr char kNarrow[] = "bfloat16";

// Lists tensors by their formula.
class List {
 public:
  explicit List(const MemoryQuery& query)
      : model_(query.config),
        tokens_(query.batch * query.seq),
        batch_(query.batch),
        seq_(query.seq),
        autocast_(query.precision == Precision::kBf16Autocast),
        narrow_(query.precision == Precision::kBf16),
        form_(FormOf({.attention = query.config.attention,
                      .bf16 = autocast_ || narrow_,
                      .on_cpu = !query.on_gpu})) {}

  // The norm before `consumer`, which reads its output `consumers` times.
  void AddNorm(const std::string& consumer) {
    const std::string of = " of the input of " + consumer;
    if (narrow_) Add("fp32 copy" + of, kNorm, kTokensByModel, kFloat);
    Add("1 / rms" + of, kNorm, kTokens, kFloat);
    Add("normalised form" + of, kNorm, kTokensByModel, kFloat);
    if (!autocast_)
      Add("input of " + consumer, kNorm, kTokensByModel, Operand());
  }

  // Under autocast the bf16 copies that a product makes of its input, if that
  // is wide, and of its matrix.
  void AddProduct(const std::string& name, Component component,
                  const char* matrix, bool wide_input) {
    if (!autocast_) return;
    if (wide_input) {
      Add("bf16 input of " + name, component, kTokensByModel, kNarrow);
    }
    Add("bf16 copy of " + name, component, matrix, kNarrow);
  }

  // Those of the fused implementation, whose norm keeps no copies of its input.
  void AddFusedNorm(const std::string& consumer) {
    Add("1 / rms of the input of " + consumer, kNorm, kTokens, kFloat);
    Add("input of " + consumer, kNorm, kTokensByModel, Operand());
  }

  void AddFusedProjections() {
    AddProduct("W_q, W_k and W_v", kProjections, "3 d^2", false);
    if (form_.inputs_kept > 0) {
      Add("rotated q and k, and v", kProjections, "3 B T d", Operand());
    }
  }

  void AddFusedFeedForward() {
    AddProduct("W1 and W3", kFfn, "2 d d_ff", false);
    Add("gate and value", kFfn, "2 B T d_ff", Operand());
    Add("silu(gate) * value", kFfn, kHidden, Operand());
    AddProduct("W2", kFfn, kHiddenMatrix, false);
  }

  void AddFusedResidual(const std::string& name, Component component = kNorm) {
    Add(name, component, kTokensByModel, narrow_ ? kNarrow : kFloat);
  }

  void AddProjections() {
    for (const char* name : {"W_q", "W_k", "W_v"}) {
      AddProduct(name, kProjections, kSquare, true);
    }
    if (form_.inputs_kept == 3) {
      Add("rotated q", kRope, kTokensByModel, Operand());
      Add("rotated k", kRope, kTokensByModel, Operand());
    }
    // Several sequences of several heads are laid out anew for the product.
    const bool copied =
        VariantOf(model_.attention).parts && batch_ > 1 && model_.heads > 1;
    if (form_.inputs_kept > 0) {
      Add("v", copied ? kValue : kProjections, kTokensByModel, Operand());
    }
  }

  void AddAttention() {
    for (const AttentionTensor& kept : form_.saved) {
      Add(kept.name, kept.component, FormulaOf(kept.size), kept.dtype);
    }
    if (!form_.merges_heads) {
      Add("merged heads", kOutputProjection, kTokensByModel, Operand());
    }
    AddProduct("W_o", kOutputProjection, kSquare, false);
  }

  void AddFeedForward() {
    AddProduct("W1", kFfn, kHiddenMatrix, true);
    for (const char* name : {"gate", "sigmoid(gate)", "silu(gate)"}) {
      Add(name, kFfn, kHidden, Operand());
    }
    AddProduct("W3", kFfn, kHiddenMatrix, true);
    for (const char* name : {"value", "silu(gate) * value"}) {
      Add(name, kFfn, kHidden, Operand());
    }
    AddProduct("W2", kFfn, kHiddenMatrix, false);
  }

  // The norm that follows keeps it as its input; of a narrow one a wide copy.
  void AddResidual(const std::string& name, Component component = kResidual) {
    if (!narrow_) Add(name, component, kTokensByModel, kFloat);
  }

  void AddHead(bool wide_input) {
    AddProduct("the head", kLmHead, "V d", wide_input);
  }

  std::vector<SavedTensor> Take() { return std::move(list_); }

 private:
  static constexpr char kTokens[] = "B T";
  static constexpr char kTokensByModel[] = "B T d";
  static constexpr char kHidden[] = "B T d_ff";
  static constexpr char kRows[] = "B h T";
  static constexpr char kScoreMatrix[] = "B h T^2";
  static constexpr char kMaskMatrix[] = "T^2";
  static constexpr char kSquare[] = "d^2";
  static constexpr char kHiddenMatrix[] = "d d_ff";

  const char* Operand() const {
    return autocast_ || narrow_ ? kNarrow : kFloat;
  }

  static const char* FormulaOf(AttentionSize size) {
    switch (size) {
      case AttentionSize::kScores:
        return kScoreMatrix;
      case AttentionSize::kInput:
        return kTokensByModel;
      case AttentionSize::kMask:
        return kMaskMatrix;
      case AttentionSize::kRows:
        return kRows;
    }
    return "";
  }

  int64_t Elements(const std::string& formula) const {
    if (formula[0] == '2') return 2 * Elements(formula.substr(2));
    if (formula[0] == '3') return 3 * Elements(formula.substr(2));
    if (formula == kTokens) return tokens_;
    if (formula == kTokensByModel) return tokens_ * model_.d_model;
    if (formula == kHidden) return tokens_ * model_.d_ff;
    if (formula == kRows) return tokens_ * model_.heads;
    if (formula == kScoreMatrix) return tokens_ * model_.heads * seq_;
    if (formula == kSquare) return model_.d_model * model_.d_model;
    if (formula == kHiddenMatrix) return model_.d_model * model_.d_ff;
    if (formula == "V d") return model_.vocab * model_.d_model;
    return seq_ * seq_;  // kMaskMatrix
  }

  void Add(std::string name, Component component, const char* formula,
           std::string dtype) {
    list_.push_back({std::move(name), component, formula, std::move(dtype),
                     Elements(formula)});
  }

  const ModelConfig model_;
  const int64_t tokens_, batch_, seq_;
  const bool autocast_, narrow_;
  const AttentionForm form_;
  std::vector<SavedTensor> list_;
};

bool IsFused(const MemoryQuery& query) {
  return query.config.implementation == Implementation::kFused;
}

std::vector<SavedTensor> FusedTensorsOfBlock(const MemoryQuery& query) {
  List list(query);
  list.AddFusedNorm("attention");
  list.AddFusedProjections();
  list.AddAttention();
  list.AddFusedResidual("residual stream after attention");
  list.AddFusedNorm("the feed-forward part");
  list.AddFusedFeedForward();
  list.AddFusedResidual("residual stream after the feed-forward part");
  return list.Take();
}

bool SavesNothing(const MemoryQuery& query) {
  return query.mode == StepMode::kInference || !IsCountable(query);
}

}  // namespace

int64_t SavedTensor::bytes() const { return BytesPerElement(dtype) * elements; }

std::vector<SavedTensor> SavedTensorsOfBlock(const MemoryQuery& query) {
  if (SavesNothing(query)) return {};
  if (IsFused(query)) return FusedTensorsOfBlock(query);
  List list(query);
  list.AddNorm("attention");
  list.AddProjections();
  list.AddAttention();
  list.AddResidual("residual stream after attention");
  list.AddNorm("the feed-forward part");
  list.AddFeedForward();
  list.AddResidual("residual stream after the feed-forward part");
  return list.Take();
}

std::vector<SavedTensor> SavedTensorsOutsideBlocks(const MemoryQuery& query) {
  if (SavesNothing(query)) return {};
  List list(query);
  if (IsFused(query)) {
    list.AddFusedResidual("embedded tokens", kEmbedding);
    list.AddFusedNorm("the head");
  } else {
    list.AddResidual("embedded tokens", kEmbedding);
    list.AddNorm("the head");
  }
  list.AddHead(/*wide_input=*/!IsFused(query));
  return list.Take();
}

std::vector<SavedByComponent> SavedComponents(const MemoryQuery& query) {
  std::array<SavedByComponent, kComponentCount> sums{};
  const auto add = [&](const SavedTensor& tensor, int64_t count) {
    SavedByComponent& sum = sums[static_cast<std::size_t>(tensor.component)];
    sum.elements += count * tensor.elements;
    sum.bytes += count * tensor.bytes();
  };
  for (const SavedTensor& tensor : SavedTensorsOfBlock(query)) {
    add(tensor, query.config.layers);
  }
  for (const SavedTensor& tensor : SavedTensorsOutsideBlocks(query))
    add(tensor, 1);
  std::vector<SavedByComponent> saved;
  for (const Component component : kComponents) {
    SavedByComponent& sum = sums[static_cast<std::size_t>(component)];
    sum.component = component;
    if (sum.bytes > 0) saved.push_back(sum);
  }
  return saved;
}

}  // namespace trainbench
