// SPDX-License-Identifier: MIT
// The variants of attention, by name, with the properties that are known
// without tensors. model/nn/attention computes them. To add a variant, add one
// line to attention_variants.inc and one file to model/nn/attention.

#ifndef TRAINBENCH_MODEL_SPEC_ATTENTION_VARIANT_H_
#define TRAINBENCH_MODEL_SPEC_ATTENTION_VARIANT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"
#include "model/spec/device_kind.h"
#include "model/spec/enum_names.h"

namespace trainbench {

// kNaive materializes the [seq, seq] scores and computes softmax in five
// passes, as textbook code does. kSdpa is LibTorch's
// scaled_dot_product_attention with the backend that it chooses, kSdpa... with
// one fixed backend. kTiled is FlashAttention-2 (Dao 2023) in tensor
// operations, kOwn in our own kernels.
enum class AttentionKind {
#define ATTENTION(Name, ...) k##Name,
#include "model/spec/attention_variants.inc"
#undef ATTENTION
};

inline constexpr std::size_t kAttentionCount =
    std::initializer_list<AttentionKind>{
#define ATTENTION(Name, ...) AttentionKind::k##Name,
#include "model/spec/attention_variants.inc"
#undef ATTENTION
    }
        .size();
inline constexpr EnumNames<AttentionKind, kAttentionCount> AttentionName{
#define ATTENTION(Name, text, ...) text,
#include "model/spec/attention_variants.inc"
#undef ATTENTION
};
inline constexpr auto kAttentionKinds = AttentionName.values();

struct AttentionVariant {
  // Scores, softmax and the product with v are separate operators with their
  // own component scopes. If false, they are one kFusedAttention.
  bool parts = false;
  // Skips the products that the causal mask hides.
  bool skips_masked = true;
  // The backward pass reads the output of the forward pass.
  bool keeps_output = true;
  // Prefix of the operator's name in a profile, which proves which variant ran.
  absl::string_view op = {};
  bool on_cpu = true;        // false: on a GPU only
  bool fp32_on_cuda = true;  // false: 16-bit types only
  // Limits of LibTorch's kernels: the widest head, in general and on compute
  // capability 9.0, and the bytes that must divide a head; 0: any.
  int64_t cuda_most_d_head = 0;
  int64_t sm90_most_d_head = 0;
  int64_t cuda_head_bytes = 0;
  // The head dimensions that the GPU kernel has tiles for; empty: any. The last
  // ones also hold heads that are too wide for the others, in steps of 8.
  std::array<int64_t, 4> cuda_d_heads = {};
  // For each of these, the most bytes of shared memory that a block needs in
  // any of the kernels: forward or backward pass, either type.
  std::array<int64_t, 4> cuda_shared_bytes = {};
};

const AttentionVariant& VariantOf(AttentionKind kind);

// Returns why the variant cannot run on this device with operands in bf16 (or
// fp32 if not) and heads of this dimension, and which variants can, as a
// message for the user; empty if it can. `shared_bytes` is the shared memory
// that a block may use on the GPU; 0: unknown, so it is not checked.
// `capability` is the GPU's compute capability, e.g. 90.
std::string AttentionUnavailable(AttentionKind kind, DeviceKind device,
                                 bool bf16, int64_t d_head,
                                 int64_t shared_bytes = 0, int capability = 0);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_SPEC_ATTENTION_VARIANT_H_
