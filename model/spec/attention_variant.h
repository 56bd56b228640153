// SPDX-License-Identifier: MIT
// The variants of attention, by name: what can be said of each without tensors.
// model/nn/attention computes them. A new variant is one line in
// attention_variants.inc and one file in model/nn/attention.

#ifndef TRAINBENCH_MODEL_SPEC_ATTENTION_VARIANT_H_
#define TRAINBENCH_MODEL_SPEC_ATTENTION_VARIANT_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/spec/device_kind.h"

namespace trainbench {

// kNaive materialises the [seq, seq] scores and computes softmax in five
// passes, as textbook code does. kSdpa is LibTorch's scaled_dot_product_
// attention with the backend that it chooses, kSdpa... one backend of it.
// kTiled is FlashAttention-2 (Dao 2023) in tensor operations, kOwn in kernels
// of ours.
enum class AttentionKind {
#define ATTENTION(Name, ...) k##Name,
#include "model/spec/attention_variants.inc"
#undef ATTENTION
};

struct AttentionVariant {
  AttentionKind kind;
  absl::string_view name;
  // Scores, softmax and the product with v are operators with component scopes
  // of their own; else all of it is Component::kFusedAttention.
  bool parts = false;
  // It leaves out products that the causal mask hides.
  bool skips_masked = true;
  // Its backward pass reads its output.
  bool keeps_output = true;
  // How the operator's name in a profile begins that proves which variant ran.
  // Empty: the device has no such kernel.
  absl::string_view cpu_op = {};
  absl::string_view cuda_op = {};
  bool fp32_on_cuda = true;  // else only 16-bit types
  // The head dimensions that the GPU's kernel has; none: any.
  std::array<int64_t, 4> cuda_d_heads = {};
  // For each of these, the most shared memory that a block of the kernels
  // takes, of the backward pass or in either type.
  std::array<int64_t, 4> cuda_shared_bytes = {};
};

const AttentionVariant& VariantOf(AttentionKind kind);

// In the order of their lines.
const std::vector<AttentionKind>& AttentionKinds();

// "naive", "sdpa", "sdpa_math", ...
absl::string_view AttentionName(AttentionKind kind);

// "naive, sdpa, sdpa_math": the names of those that `is_meant` selects.
std::string AttentionNames(const std::function<bool(AttentionKind)>& is_meant);

absl::string_view AttentionOpPrefix(AttentionKind kind, DeviceKind device);

// Why the variant cannot run on this device with operands in bf16 or else fp32
// and heads of this dimension, and which can, as a message for the user; empty
// if it can. `shared_bytes` is what a block of the GPU may have of shared
// memory; 0: unknown, and then nothing is refused for it.
std::string AttentionUnavailable(AttentionKind kind, DeviceKind device,
                                 bool bf16, int64_t d_head,
                                 int64_t shared_bytes = 0);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_ATTENTION_VARIANT_H_
