// SPDX-License-Identifier: MIT

#include "model/verification/products.h"

#include <ATen/Context.h>
#include <ATen/record_function.h>
#include <torch/types.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/nn/dtype.h"
#include "model/spec/attention_variant.h"
#include "model/spec/component.h"

namespace trainbench {
namespace {

constexpr char kFused[] = "aten::_scaled_dot_product_";

bool IsProduct(absl::string_view op) {
  return absl::StartsWith(op, kFused) || IsMatrixProduct(op);
}

// Whether `op` is our attention, which runs no ATen operators, or many.
bool IsOurAttention(absl::string_view op) {
  return absl::StartsWith(op, "trainbench::") &&
         std::ranges::any_of(kAttentionKinds, [&](AttentionKind kind) {
           return op == VariantOf(kind).op;
         });
}

bool AllowsFewerBits() {
  using at::Float32Precision;
  for (const auto backend :
       {at::Float32Backend::CUDA, at::Float32Backend::MKLDNN}) {
    const Float32Precision precision =
        at::globalContext().float32Precision(backend, at::Float32Op::MATMUL);
    if (precision == Float32Precision::TF32 ||
        precision == Float32Precision::BF16) {
      return true;
    }
  }
  return false;
}

// Counts products during its lifetime. Only the innermost product counts:
// autocast and attention without a fused kernel call products inside.
class Recorder {
 public:
  explicit Recorder(Products& products)
      : products_(products),
        handle_(at::addThreadLocalCallback(
            at::RecordFunctionCallback(Begin, End)
                .needsInputs(true)
                .scopes({at::RecordScope::FUNCTION}))) {
    recorder_ = this;
  }
  ~Recorder() {
    recorder_ = nullptr;
    at::removeCallback(handle_);
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

 private:
  struct Product final : at::ObserverContext {
    explicit Product(c10::ScalarType operands) : type(operands) {}
    c10::ScalarType type;
    bool is_innermost = true;
  };

  static std::unique_ptr<at::ObserverContext> Begin(
      const at::RecordFunction& function) {
    // Other threads inherit the callback.
    if (recorder_ == nullptr) return nullptr;
    recorder_->products_.operators.emplace(function.name());
    if (IsOurAttention(function.name())) {
      recorder_->products_.fused_attention.insert(function.name());
    }
    if (!IsProduct(function.name())) return nullptr;
    for (const c10::IValue& input : function.inputs()) {
      if (!input.isTensor() || !input.toTensor().defined()) continue;
      auto product = std::make_unique<Product>(input.toTensor().scalar_type());
      auto& open = recorder_->open_;
      if (!open.empty()) open.back()->is_innermost = false;
      open.push_back(product.get());
      return product;
    }
    return nullptr;
  }

  static void End(const at::RecordFunction& function,
                  at::ObserverContext* context) {
    if (recorder_ == nullptr || context == nullptr) return;
    const auto* const product = static_cast<Product*>(context);
    recorder_->open_.pop_back();
    if (!product->is_innermost) return;
    Products& products = recorder_->products_;
    ++products.by_type[product->type];
    products.tf32 |= AllowsFewerBits();
    if (absl::StartsWith(function.name(), kFused)) {
      products.fused_attention.insert(function.name());
    }
  }

  // LibTorch's callbacks are plain functions and have no object.
  static thread_local Recorder* recorder_;

  Products& products_;
  std::vector<Product*> open_;  // each is nested in the one before
  at::CallbackHandle handle_;
};

thread_local Recorder* Recorder::recorder_ = nullptr;

std::string Tally(const Products& products) {
  if (products.by_type.empty()) return "none";
  return absl::StrJoin(
      products.by_type, ",", [](std::string* out, const auto& item) {
        absl::StrAppend(out, DtypeName(item.first), " x", item.second);
      });
}

}  // namespace

Products ProductsOf(const std::function<void()>& work) {
  Products products;
  const Recorder recorder(products);
  work();
  return products;
}

absl::Status ProveProducts(const Products& products, Precision precision) {
  const c10::ScalarType wanted =
      precision == Precision::kBf16 || precision == Precision::kBf16Autocast
          ? c10::kBFloat16
          : c10::kFloat;
  const auto error = [&](absl::string_view but) {
    return absl::FailedPreconditionError(
        absl::StrCat("the row says ", PrecisionName(precision), ", but ", but));
  };
  if (!products.by_type.contains(wanted)) {
    return error(absl::StrCat("no matrix product has operands of ",
                              DtypeName(wanted), "; found: ", Tally(products)));
  }
  for (const auto& [type, count] : products.by_type) {
    if (type == wanted || type == c10::kFloat) continue;
    return error(
        absl::StrCat("the matrix products have operands of ", Tally(products)));
  }
  if (products.tf32 == (precision == Precision::kTf32)) return absl::OkStatus();
  return error(products.tf32 ? "fp32 products may use reduced precision"
                             : "fp32 products use full precision");
}

Products ForwardProducts(TransformerLm& model, const Batch& batch,
                         Precision precision) {
  return ProductsOf(
      [&] { RunStep(StepMode::kInference, model, nullptr, batch, precision); });
}

}  // namespace trainbench
